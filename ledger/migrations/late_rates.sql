-- Late exchange rates: what they may change in closed months, while `tidebook.rates` announces a conversion.
--
-- Results: an UPDATE of the base amounts of foreign postings to what the stored rates give. Amounts and keys of postings
-- stay, and no posting comes or goes. Recurring revenue: recomputed once for each newer version of the rates.

-- The units of a currency for one euro: the last rate on or before the day, else the first one (RateTable.get_rate).
CREATE OR REPLACE FUNCTION ledger_find_rate(of_currency text, on_day date) RETURNS numeric LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN of_currency = 'EUR' THEN 1 ELSE coalesce(
        (SELECT per_euro FROM ledger_rate WHERE currency = of_currency AND date <= on_day ORDER BY date DESC LIMIT 1),
        (SELECT per_euro FROM ledger_rate WHERE currency = of_currency ORDER BY date LIMIT 1)) END
$$;

CREATE OR REPLACE FUNCTION ledger_check_posting_rows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
BEGIN
    IF coalesce(current_setting('tidebook.rates', true), '') <> 'on' THEN
        RETURN NULL;
    END IF;
    SELECT c.closed_through INTO closed FROM changed_rows AS p JOIN companies_company AS c ON c.id = p.company_id
     WHERE p.month <= c.closed_through LIMIT 1;
    IF FOUND THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_posting_insert AFTER INSERT ON ledger_posting
    REFERENCING NEW TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_posting_rows();
CREATE OR REPLACE TRIGGER ledger_check_posting_delete AFTER DELETE ON ledger_posting
    REFERENCING OLD TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_posting_rows();

CREATE OR REPLACE FUNCTION ledger_check_posting_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
BEGIN
    -- Amounts and keys of closed months, whatever is announced: conversions start from them.
    SELECT c.closed_through INTO closed
      FROM old_rows AS o
      JOIN companies_company AS c ON c.id = o.company_id AND o.month <= c.closed_through
      LEFT JOIN new_rows AS n ON n.company_id = o.company_id AND n.categorization_id = o.categorization_id
                             AND n.pl_type = o.pl_type AND n.month = o.month
     WHERE (n.category_id, n.amount) IS DISTINCT FROM (o.category_id, o.amount)
     LIMIT 1;
    IF FOUND THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    IF coalesce(current_setting('tidebook.rates', true), '') <> 'on' THEN
        RETURN NULL;
    END IF;
    WITH converted AS MATERIALIZED (
        SELECT n.amount, n.base_amount, t.amount_currency AS currency, t.date, c.base_currency, c.closed_through
          FROM new_rows AS n
          JOIN companies_company AS c ON c.id = n.company_id AND n.month <= c.closed_through
          JOIN old_rows AS o ON o.company_id = n.company_id AND o.categorization_id = n.categorization_id
                            AND o.pl_type = n.pl_type AND o.month = n.month AND o.base_amount <> n.base_amount
          JOIN ledger_categorization AS part ON part.company_id = n.company_id AND part.id = n.categorization_id
          JOIN ledger_transaction AS t ON t.company_id = n.company_id AND t.id = part.transaction_id
    ), rate AS MATERIALIZED (
        SELECT base_currency, currency, date,
               ledger_find_rate(base_currency, date) AS target, ledger_find_rate(currency, date) AS source
          FROM (SELECT DISTINCT base_currency, currency, date FROM converted) AS used
    )
    SELECT closed_through INTO closed FROM converted JOIN rate USING (base_currency, currency, date)
     WHERE currency = base_currency
        OR base_amount IS DISTINCT FROM round((amount * target)::numeric(80, 40) / source, 10)
     LIMIT 1;
    IF FOUND THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_posting_update AFTER UPDATE ON ledger_posting
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_posting_update();

-- Recurring revenue by month. Differences below the ninth decimal are noise of divisions. The version of a company's
-- rates only rises, so each newer version converts its months once.
CREATE OR REPLACE FUNCTION ledger_check_recurring_month() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
    base text;
BEGIN
    SELECT closed_through, base_currency INTO closed, base FROM companies_company
     WHERE id = coalesce(NEW.company_id, OLD.company_id);
    IF closed IS NULL OR least(NEW.month, OLD.month) > closed THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' AND (OLD.company_id, OLD.basis, OLD.month) IS DISTINCT FROM (NEW.company_id, NEW.basis, NEW.month)
    THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    IF (coalesce(OLD.new_count, 0), coalesce(OLD.reactivate_count, 0), coalesce(OLD.cancel_count, 0))
       = (coalesce(NEW.new_count, 0), coalesce(NEW.reactivate_count, 0), coalesce(NEW.cancel_count, 0)) THEN
        IF (coalesce(OLD.upgrade_count, 0), coalesce(OLD.downgrade_count, 0), coalesce(OLD.currency_count, 0))
           = (coalesce(NEW.upgrade_count, 0), coalesce(NEW.downgrade_count, 0), coalesce(NEW.currency_count, 0))
           AND greatest(abs(coalesce(OLD.new, 0) - coalesce(NEW.new, 0)),
                        abs(coalesce(OLD.reactivate, 0) - coalesce(NEW.reactivate, 0)),
                        abs(coalesce(OLD.upgrade, 0) - coalesce(NEW.upgrade, 0)),
                        abs(coalesce(OLD.downgrade, 0) - coalesce(NEW.downgrade, 0)),
                        abs(coalesce(OLD.cancel, 0) - coalesce(NEW.cancel, 0)),
                        abs(coalesce(OLD.currency, 0) - coalesce(NEW.currency, 0))) < 1e-9 THEN
            RETURN NULL;
        END IF;
        IF coalesce(current_setting('tidebook.rates', true), '') = 'on'
           AND EXISTS (SELECT 1 FROM ledger_recurringbook AS b
                        WHERE b.company_id = coalesce(NEW.company_id, OLD.company_id)
                          AND b.rates_version < (SELECT max(id) FROM ledger_rateload))
           AND EXISTS (SELECT 1 FROM ledger_subscriptionevent AS e
                        WHERE e.company_id = coalesce(NEW.company_id, OLD.company_id)
                          AND e.retracted_time IS NULL AND e.amount_currency <> base) THEN
            RETURN NULL;
        END IF;
    END IF;
    PERFORM ledger_refuse_closed(closed);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_recurring_month AFTER INSERT OR UPDATE OR DELETE ON ledger_recurringmonth
    FOR EACH ROW EXECUTE FUNCTION ledger_check_recurring_month();
CREATE OR REPLACE TRIGGER closed_recurringmonth_never_emptied BEFORE TRUNCATE ON ledger_recurringmonth
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_truncate();

CREATE OR REPLACE FUNCTION ledger_check_recurring_book() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.company_id = OLD.company_id AND NEW.rates_version >= OLD.rates_version THEN
        RETURN NULL;
    END IF;
    SELECT closed_through INTO closed FROM companies_company WHERE id = OLD.company_id;
    IF closed IS NOT NULL THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_recurring_book AFTER UPDATE OR DELETE ON ledger_recurringbook
    FOR EACH ROW EXECUTE FUNCTION ledger_check_recurring_book();
CREATE OR REPLACE TRIGGER closed_recurringbook_never_emptied BEFORE TRUNCATE ON ledger_recurringbook
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_truncate();

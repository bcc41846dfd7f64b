-- Closed months: triggers that refuse changes of their figures (constraint closing_period_closed, error period_closed).
--
-- Triggers on the derived tables note what a row said before a change first touched it, for months that were ever
-- closed. At the end of the change a deferred constraint trigger compares: if the row says the same again, the note is
-- deleted; if it differs in a closed month, the change is refused. So a change may delete and rebuild derived rows, and
-- only its result counts. Facts without a derived row (subscriptions, the type of an account, settings of the company)
-- have triggers of their own. `tidebook.change` tells the changes of one database transaction apart; `tidebook.rates`
-- announces conversions by late exchange rates (late_rates.sql), the only changes of results of closed months.

CREATE OR REPLACE FUNCTION ledger_refuse_closed(closed date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the books are closed through %; this violates check constraint "closing_period_closed"', closed
        USING ERRCODE = 'check_violation', CONSTRAINT = 'closing_period_closed';
END $$;

-- The name of the running change in notes. With the transaction's number nobody can use the name of an earlier change
-- again, whose notes would stand for new ones.
CREATE OR REPLACE FUNCTION ledger_change_token() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(current_setting('tidebook.change', true), ''), 'transaction') || ' ' || pg_current_xact_id()
$$;

-- Demos are reset, and sandboxes deleted. No other company is ever emptied.
CREATE OR REPLACE FUNCTION ledger_may_be_emptied(company uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM companies_company
                    WHERE id = company AND (demonstration IS NOT NULL OR system_status = 'sandbox'))
$$;

-- Only triggers write notes, and only the rows of a company that may be emptied are deleted.
CREATE OR REPLACE FUNCTION ledger_check_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF pg_trigger_depth() = 1 AND TG_OP <> 'DELETE' THEN
        RAISE EXCEPTION 'only triggers write notes of changed figures' USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP = 'DELETE' THEN
        IF pg_trigger_depth() = 1 AND NOT ledger_may_be_emptied(OLD.company_id) THEN
            RAISE EXCEPTION 'notes of changed figures are append-only' USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN OLD;
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER figure_change_by_triggers BEFORE INSERT OR UPDATE OR DELETE ON ledger_figurechange
    FOR EACH ROW EXECUTE FUNCTION ledger_check_note();

-- Notes of derived rows: one for the old key and one for the new key where they differ; a new key had zeros before.
CREATE OR REPLACE FUNCTION ledger_note_day() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    reported date;
BEGIN
    IF TG_OP = 'UPDATE'
       AND (OLD.company_id, OLD.account_id, OLD.currency, OLD.date, OLD.amount, OLD.inflow, OLD.outflow)
       IS NOT DISTINCT FROM
           (NEW.company_id, NEW.account_id, NEW.currency, NEW.date, NEW.amount, NEW.inflow, NEW.outflow) THEN
        RETURN NULL;
    END IF;
    SELECT reported_through INTO reported FROM companies_company WHERE id = coalesce(NEW.company_id, OLD.company_id);
    IF reported IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.date <= reported THEN
        INSERT INTO ledger_figurechange
               (company_id, id, token, kind, subject_id, label, day, amount, inflow, outflow, rates)
        VALUES (OLD.company_id, gen_random_uuid(),
                ledger_change_token(), 'day', OLD.account_id, OLD.currency, OLD.date, OLD.amount, OLD.inflow, OLD.outflow, false)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.date <= reported THEN
        INSERT INTO ledger_figurechange
               (company_id, id, token, kind, subject_id, label, day, amount, inflow, outflow, rates)
        VALUES (NEW.company_id, gen_random_uuid(),
                ledger_change_token(), 'day', NEW.account_id, NEW.currency, NEW.date, 0, 0, 0, false)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_note_day AFTER INSERT OR UPDATE OR DELETE ON ledger_daymovement
    FOR EACH ROW EXECUTE FUNCTION ledger_note_day();

CREATE OR REPLACE FUNCTION ledger_note_month() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    reported date;
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.company_id, OLD.account_id, OLD.currency, OLD.month, OLD.amount)
       IS NOT DISTINCT FROM (NEW.company_id, NEW.account_id, NEW.currency, NEW.month, NEW.amount) THEN
        RETURN NULL;
    END IF;
    SELECT reported_through INTO reported FROM companies_company WHERE id = coalesce(NEW.company_id, OLD.company_id);
    IF reported IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.month <= reported THEN
        INSERT INTO ledger_figurechange
               (company_id, id, token, kind, subject_id, label, day, amount, inflow, outflow, rates)
        VALUES (OLD.company_id, gen_random_uuid(),
                ledger_change_token(), 'month', OLD.account_id, OLD.currency, OLD.month, OLD.amount, 0, 0, false)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.month <= reported THEN
        INSERT INTO ledger_figurechange
               (company_id, id, token, kind, subject_id, label, day, amount, inflow, outflow, rates)
        VALUES (NEW.company_id, gen_random_uuid(),
                ledger_change_token(), 'month', NEW.account_id, NEW.currency, NEW.month, 0, 0, 0, false)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_note_month AFTER INSERT OR UPDATE OR DELETE ON ledger_monthmovement
    FOR EACH ROW EXECUTE FUNCTION ledger_note_month();

CREATE OR REPLACE FUNCTION ledger_note_result() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    reported date;
    -- By a trigger of postings: those that check conversions are beside it (late_rates.sql). Conversions have notes of
    -- their own, so that every other change of the same result is compared too.
    by_rates boolean := coalesce(current_setting('tidebook.rates', true), '') = 'on' AND pg_trigger_depth() > 1;
    token text := ledger_change_token() || CASE WHEN by_rates THEN ' rates' ELSE '' END;
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.company_id, OLD.category_id, OLD.pl_type, OLD.month, OLD.base_amount, OLD.count > 0)
       IS NOT DISTINCT FROM (NEW.company_id, NEW.category_id, NEW.pl_type, NEW.month, NEW.base_amount, NEW.count > 0)
    THEN
        RETURN NULL;
    END IF;
    SELECT reported_through INTO reported FROM companies_company WHERE id = coalesce(NEW.company_id, OLD.company_id);
    IF reported IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.month <= reported THEN
        INSERT INTO ledger_figurechange
               (company_id, id, token, kind, subject_id, label, day, amount, inflow, outflow, rates)
        VALUES (OLD.company_id, gen_random_uuid(),
                token, 'result', OLD.category_id, OLD.pl_type, OLD.month,
                CASE WHEN OLD.count > 0 THEN OLD.base_amount ELSE 0 END, 0, 0, by_rates)
        ON CONFLICT DO NOTHING;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.month <= reported THEN
        INSERT INTO ledger_figurechange
               (company_id, id, token, kind, subject_id, label, day, amount, inflow, outflow, rates)
        VALUES (NEW.company_id, gen_random_uuid(),
                token, 'result', NEW.category_id, NEW.pl_type, NEW.month, 0, 0, 0, by_rates)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_note_result AFTER INSERT OR UPDATE OR DELETE ON ledger_monthresult
    FOR EACH ROW EXECUTE FUNCTION ledger_note_result();

-- Compares each note with the derived row when the change ends.
CREATE OR REPLACE FUNCTION ledger_check_figure_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
    sums numeric[] := NULL;
BEGIN
    CASE NEW.kind
        WHEN 'day' THEN
            SELECT ARRAY[amount, inflow, outflow] INTO sums FROM ledger_daymovement
             WHERE company_id = NEW.company_id AND account_id = NEW.subject_id AND currency = NEW.label
               AND date = NEW.day;
        WHEN 'month' THEN
            SELECT ARRAY[amount, 0, 0] INTO sums FROM ledger_monthmovement
             WHERE company_id = NEW.company_id AND account_id = NEW.subject_id AND currency = NEW.label
               AND month = NEW.day;
        WHEN 'result' THEN
            SELECT ARRAY[base_amount, 0, 0] INTO sums FROM ledger_monthresult
             WHERE company_id = NEW.company_id AND category_id = NEW.subject_id AND pl_type = NEW.label
               AND month = NEW.day AND count > 0;
        ELSE
            RETURN NULL;
    END CASE;
    IF ARRAY[NEW.amount, NEW.inflow, NEW.outflow] = coalesce(sums, ARRAY[0, 0, 0]) THEN
        DELETE FROM ledger_figurechange WHERE company_id = NEW.company_id AND id = NEW.id;
        RETURN NULL;
    END IF;
    SELECT closed_through INTO closed FROM companies_company WHERE id = NEW.company_id;
    IF NEW.day <= closed AND NOT NEW.rates THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS ledger_figure_change_allowed ON ledger_figurechange;
CREATE CONSTRAINT TRIGGER ledger_figure_change_allowed AFTER INSERT ON ledger_figurechange
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_check_figure_change();

-- Subscription events: what counts towards recurring revenue. A retracted event counts for nothing.
CREATE OR REPLACE FUNCTION ledger_check_events_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    company record;
BEGIN
    FOR company IN
        SELECT id, closed_through, reported_through FROM companies_company
         WHERE reported_through IS NOT NULL AND id IN (SELECT company_id FROM new_rows)
    LOOP
        IF EXISTS (SELECT 1 FROM (
                SELECT company_id, subscription_id, least(effective_date, committed_date) AS day
                  FROM new_rows WHERE retracted_time IS NULL
            ) AS e WHERE e.company_id = company.id AND e.day <= company.closed_through)
        THEN
            PERFORM ledger_refuse_closed(company.closed_through);
        END IF;
        INSERT INTO ledger_figurechange (company_id, id, token, kind, subject_id, label, day, rates)
        SELECT company.id, gen_random_uuid(),
               ledger_change_token(), 'event', e.subscription_id, '', min(e.day), false
          FROM (
                SELECT company_id, subscription_id, least(effective_date, committed_date) AS day
                  FROM new_rows WHERE retracted_time IS NULL
               ) AS e WHERE e.company_id = company.id AND e.day <= company.reported_through
         GROUP BY e.subscription_id
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_events_insert AFTER INSERT ON ledger_subscriptionevent
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_events_insert();

CREATE OR REPLACE FUNCTION ledger_check_events_delete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    company record;
BEGIN
    FOR company IN
        SELECT id, closed_through, reported_through FROM companies_company
         WHERE reported_through IS NOT NULL AND id IN (SELECT company_id FROM old_rows)
    LOOP
        IF EXISTS (SELECT 1 FROM (
                SELECT company_id, subscription_id, least(effective_date, committed_date) AS day
                  FROM old_rows WHERE retracted_time IS NULL
            ) AS e WHERE e.company_id = company.id AND e.day <= company.closed_through)
        THEN
            PERFORM ledger_refuse_closed(company.closed_through);
        END IF;
        INSERT INTO ledger_figurechange (company_id, id, token, kind, subject_id, label, day, rates)
        SELECT company.id, gen_random_uuid(),
               ledger_change_token(), 'event', e.subscription_id, '', min(e.day), false
          FROM (
                SELECT company_id, subscription_id, least(effective_date, committed_date) AS day
                  FROM old_rows WHERE retracted_time IS NULL
               ) AS e WHERE e.company_id = company.id AND e.day <= company.reported_through
         GROUP BY e.subscription_id
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_events_delete AFTER DELETE ON ledger_subscriptionevent
    REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_events_delete();

CREATE OR REPLACE FUNCTION ledger_check_events_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    company record;
BEGIN
    FOR company IN
        SELECT id, closed_through, reported_through FROM companies_company
         WHERE reported_through IS NOT NULL AND id IN (SELECT company_id FROM new_rows)
    LOOP
        IF EXISTS (SELECT 1 FROM (
                SELECT o.company_id, o.subscription_id,
                       least(o.effective_date, o.committed_date, n.effective_date, n.committed_date) AS day
                  FROM old_rows AS o JOIN new_rows AS n ON n.company_id = o.company_id AND n.id = o.id
                 WHERE (o.retracted_time IS NULL OR n.retracted_time IS NULL)
                   AND (o.subscription_id, o.effective_date, o.committed_date, o.amount_value, o.amount_currency,
                        o.interval, o.interval_count, o.retracted_time IS NULL)
                       IS DISTINCT FROM
                       (n.subscription_id, n.effective_date, n.committed_date, n.amount_value, n.amount_currency,
                        n.interval, n.interval_count, n.retracted_time IS NULL)
            ) AS e WHERE e.company_id = company.id AND e.day <= company.closed_through)
        THEN
            PERFORM ledger_refuse_closed(company.closed_through);
        END IF;
        INSERT INTO ledger_figurechange (company_id, id, token, kind, subject_id, label, day, rates)
        SELECT company.id, gen_random_uuid(),
               ledger_change_token(), 'event', e.subscription_id, '', min(e.day), false
          FROM (
                SELECT o.company_id, o.subscription_id,
                       least(o.effective_date, o.committed_date, n.effective_date, n.committed_date) AS day
                  FROM old_rows AS o JOIN new_rows AS n ON n.company_id = o.company_id AND n.id = o.id
                 WHERE (o.retracted_time IS NULL OR n.retracted_time IS NULL)
                   AND (o.subscription_id, o.effective_date, o.committed_date, o.amount_value, o.amount_currency,
                        o.interval, o.interval_count, o.retracted_time IS NULL)
                       IS DISTINCT FROM
                       (n.subscription_id, n.effective_date, n.committed_date, n.amount_value, n.amount_currency,
                        n.interval, n.interval_count, n.retracted_time IS NULL)
               ) AS e WHERE e.company_id = company.id AND e.day <= company.reported_through
         GROUP BY e.subscription_id
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_events_update AFTER UPDATE ON ledger_subscriptionevent
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_events_update();

-- The customer of a subscription, whether an account is for money in transit, and settings of the company.
CREATE OR REPLACE FUNCTION ledger_check_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
    reported date;
    first date;
BEGIN
    SELECT closed_through, reported_through INTO closed, reported FROM companies_company WHERE id = OLD.company_id;
    IF reported IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT min(least(effective_date, committed_date)) INTO first FROM ledger_subscriptionevent
     WHERE company_id = OLD.company_id AND subscription_id = OLD.id AND retracted_time IS NULL;
    IF first <= closed THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    IF first <= reported THEN
        INSERT INTO ledger_figurechange (company_id, id, token, kind, subject_id, label, day, rates)
        VALUES (OLD.company_id, gen_random_uuid(),
                ledger_change_token(), 'event', OLD.id, '', first, false)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_subscription AFTER UPDATE OF customer_id ON ledger_subscription
    FOR EACH ROW WHEN (OLD.customer_id IS DISTINCT FROM NEW.customer_id) EXECUTE FUNCTION ledger_check_subscription();

CREATE OR REPLACE FUNCTION ledger_check_account() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
    reported date;
    first date;
BEGIN
    SELECT closed_through, reported_through INTO closed, reported FROM companies_company WHERE id = OLD.company_id;
    IF reported IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT min(date) INTO first FROM ledger_daymovement
     WHERE company_id = OLD.company_id AND account_id = OLD.id AND (inflow <> 0 OR outflow <> 0);
    IF first <= closed THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    IF first <= reported THEN
        INSERT INTO ledger_figurechange (company_id, id, token, kind, subject_id, label, day, rates)
        VALUES (OLD.company_id, gen_random_uuid(),
                ledger_change_token(), 'account', OLD.id, '', first, false)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_account AFTER UPDATE OF type ON ledger_account
    FOR EACH ROW WHEN ((OLD.type = 'transit') <> (NEW.type = 'transit')) EXECUTE FUNCTION ledger_check_account();

CREATE OR REPLACE FUNCTION ledger_last_closed_days(company uuid, OUT closed date, OUT reported date)
LANGUAGE sql STABLE AS $$
    SELECT (max(c.month) FILTER (WHERE NOT EXISTS (SELECT 1 FROM ledger_reopening AS r
                                                    WHERE r.company_id = company AND r.closing_id = c.id))
            + interval '1 month')::date - 1,
           (max(c.month) + interval '1 month')::date - 1
      FROM ledger_closing AS c WHERE c.company_id = company
$$;
CREATE OR REPLACE FUNCTION ledger_check_company() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (OLD.closed_through, OLD.reported_through) IS DISTINCT FROM (NEW.closed_through, NEW.reported_through)
       AND (NEW.closed_through, NEW.reported_through) IS DISTINCT FROM ledger_last_closed_days(NEW.id) THEN
        PERFORM ledger_refuse_closed(OLD.closed_through);
    END IF;
    IF OLD.closed_through IS NOT NULL AND (OLD.base_currency, OLD.data_start_date)
                                          IS DISTINCT FROM (NEW.base_currency, NEW.data_start_date) THEN
        PERFORM ledger_refuse_closed(OLD.closed_through);
    END IF;
    -- Demos and sandboxes may be emptied, with closings and audit log: a company is one from the start or never.
    IF (OLD.system_status <> 'sandbox' AND NEW.system_status = 'sandbox')
       OR (OLD.demonstration IS NULL AND NEW.demonstration IS NOT NULL) THEN
        RAISE EXCEPTION 'only a new company becomes a demo or sandbox' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_company BEFORE UPDATE OF
    closed_through, reported_through, base_currency, data_start_date, system_status, demonstration
    ON companies_company FOR EACH ROW EXECUTE FUNCTION ledger_check_company();

-- Categorizations with postings in closed months.
CREATE OR REPLACE FUNCTION ledger_check_categorizations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
BEGIN
    SELECT c.closed_through INTO closed
      FROM old_rows AS o
      JOIN new_rows AS n ON n.company_id = o.company_id AND n.id = o.id
      JOIN companies_company AS c ON c.id = o.company_id
     WHERE c.closed_through IS NOT NULL
       AND (o.category_id, o.rule, o.recognized_from, o.computed_end_date > o.computed_start_date,
            CASE WHEN o.computed_end_date > o.computed_start_date THEN o.computed_start_date
                 ELSE date_trunc('month', o.computed_start_date)::date END,
            CASE WHEN o.computed_end_date > o.computed_start_date THEN o.computed_end_date END,
            o.revenue, o.cogs, o.cac, o.pd, o.ga, o.no, o.neutral)
           IS DISTINCT FROM
           (n.category_id, n.rule, n.recognized_from, n.computed_end_date > n.computed_start_date,
            CASE WHEN n.computed_end_date > n.computed_start_date THEN n.computed_start_date
                 ELSE date_trunc('month', n.computed_start_date)::date END,
            CASE WHEN n.computed_end_date > n.computed_start_date THEN n.computed_end_date END,
            n.revenue, n.cogs, n.cac, n.pd, n.ga, n.no, n.neutral)
       AND EXISTS (SELECT 1 FROM ledger_posting AS p
                    WHERE p.company_id = o.company_id AND p.categorization_id = o.id AND p.month <= c.closed_through)
     LIMIT 1;
    IF FOUND THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_check_categorizations AFTER UPDATE ON ledger_categorization
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_categorizations();

-- TRUNCATE fires no row triggers: it is refused while a company is closed.
CREATE OR REPLACE FUNCTION ledger_check_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
BEGIN
    SELECT max(closed_through) INTO closed FROM companies_company;
    IF closed IS NOT NULL THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER closed_daymovement_never_emptied BEFORE TRUNCATE ON ledger_daymovement
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_truncate();
CREATE OR REPLACE TRIGGER closed_monthmovement_never_emptied BEFORE TRUNCATE ON ledger_monthmovement
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_truncate();
CREATE OR REPLACE TRIGGER closed_monthresult_never_emptied BEFORE TRUNCATE ON ledger_monthresult
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_truncate();
CREATE OR REPLACE TRIGGER closed_posting_never_emptied BEFORE TRUNCATE ON ledger_posting
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_truncate();
CREATE OR REPLACE TRIGGER closed_categorization_never_emptied BEFORE TRUNCATE ON ledger_categorization
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_truncate();
CREATE OR REPLACE TRIGGER closed_transaction_never_emptied BEFORE TRUNCATE ON ledger_transaction
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_truncate();
CREATE OR REPLACE TRIGGER closed_subscriptionevent_never_emptied BEFORE TRUNCATE ON ledger_subscriptionevent
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_truncate();

-- Closings and reopenings are append-only, and companies_company.closed_through follows from them.
CREATE OR REPLACE FUNCTION ledger_closings_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF ledger_may_be_emptied(OLD.company_id) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'closings are append-only' USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE FUNCTION ledger_derive_closed_through() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    company uuid;
BEGIN
    FOR company IN SELECT DISTINCT company_id FROM changed_rows LOOP
        UPDATE companies_company
           SET (closed_through, reported_through) = (SELECT closed, reported FROM ledger_last_closed_days(company))
         WHERE id = company;
    END LOOP;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER closing_append_only BEFORE UPDATE OR DELETE ON ledger_closing
    FOR EACH ROW EXECUTE FUNCTION ledger_closings_are_append_only();
CREATE OR REPLACE TRIGGER closing_never_emptied BEFORE TRUNCATE ON ledger_closing
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_closings_are_append_only();
CREATE OR REPLACE TRIGGER closing_derives_insert AFTER INSERT ON ledger_closing REFERENCING NEW TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_derive_closed_through();
CREATE OR REPLACE TRIGGER closing_derives_delete AFTER DELETE ON ledger_closing REFERENCING OLD TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_derive_closed_through();

CREATE OR REPLACE TRIGGER reopening_append_only BEFORE UPDATE OR DELETE ON ledger_reopening
    FOR EACH ROW EXECUTE FUNCTION ledger_closings_are_append_only();
CREATE OR REPLACE TRIGGER reopening_never_emptied BEFORE TRUNCATE ON ledger_reopening
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_closings_are_append_only();
CREATE OR REPLACE TRIGGER reopening_derives_insert AFTER INSERT ON ledger_reopening REFERENCING NEW TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_derive_closed_through();
CREATE OR REPLACE TRIGGER reopening_derives_delete AFTER DELETE ON ledger_reopening REFERENCING OLD TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_derive_closed_through();

-- Which audit entries a change of a reported figure has.
CREATE OR REPLACE TRIGGER changeentry_append_only BEFORE UPDATE OR DELETE ON ledger_changeentry
    FOR EACH ROW EXECUTE FUNCTION ledger_closings_are_append_only();

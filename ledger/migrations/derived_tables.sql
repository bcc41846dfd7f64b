-- Derived tables: balances per day and month, and monthly results, exact after every insert, update and delete.
--
-- Statement triggers group the rows of one statement and upsert the totals in key order: the order prevents deadlocks
-- between concurrent imports, and row-by-row upserts also run on distributed tables.

-- The company whose rows are being copied with their derived rows (companies.actions.company_data): inserting computes
-- nothing for it. Only a sandbox in which no month was ever closed can be it.
CREATE OR REPLACE FUNCTION ledger_get_copied_company() RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT id FROM companies_company
     WHERE id = nullif(current_setting('tidebook.copied_company', true), '')::uuid
       AND system_status = 'sandbox' AND reported_through IS NULL
$$;

-- Booked transactions: ledger_daymovement and ledger_monthmovement. New rows count positive, old rows negative.
CREATE OR REPLACE FUNCTION ledger_movements_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE cell record; copied uuid := ledger_get_copied_company();
BEGIN
    FOR cell IN
        SELECT company_id, account_id, currency, date,
               sum(amount) AS amount, sum(inflow) AS inflow, sum(outflow) AS outflow, sum(count) AS count
          FROM (
                SELECT company_id, account_id, amount_currency AS currency, date, amount_value AS amount,
                       CASE WHEN source <> 'initialBalance' AND amount_value > 0
                            THEN amount_value - transferred_value ELSE 0 END AS inflow,
                       CASE WHEN source <> 'initialBalance' AND amount_value < 0
                            THEN transferred_value - amount_value ELSE 0 END AS outflow, 1 AS count
                  FROM new_rows WHERE NOT pending AND company_id IS DISTINCT FROM copied
               ) AS moved
         GROUP BY company_id, account_id, currency, date
        HAVING sum(amount) <> 0 OR sum(inflow) <> 0 OR sum(outflow) <> 0 OR sum(count) <> 0
         ORDER BY company_id, account_id, currency, date
    LOOP
        INSERT INTO ledger_daymovement AS day (company_id, account_id, currency, date, amount, inflow, outflow, count)
        VALUES (cell.company_id, cell.account_id, cell.currency, cell.date,
                cell.amount, cell.inflow, cell.outflow, cell.count)
        ON CONFLICT (company_id, account_id, currency, date) DO UPDATE
            SET amount = day.amount + excluded.amount, inflow = day.inflow + excluded.inflow,
                outflow = day.outflow + excluded.outflow, count = day.count + excluded.count;
    END LOOP;
    FOR cell IN
        SELECT company_id, account_id, currency, date_trunc('month', date)::date AS month,
               sum(amount) AS amount, sum(count) AS count
          FROM (
                SELECT company_id, account_id, amount_currency AS currency, date, amount_value AS amount,
                       CASE WHEN source <> 'initialBalance' AND amount_value > 0
                            THEN amount_value - transferred_value ELSE 0 END AS inflow,
                       CASE WHEN source <> 'initialBalance' AND amount_value < 0
                            THEN transferred_value - amount_value ELSE 0 END AS outflow, 1 AS count
                  FROM new_rows WHERE NOT pending AND company_id IS DISTINCT FROM copied
               ) AS moved
         GROUP BY company_id, account_id, currency, date_trunc('month', date)::date
        HAVING sum(amount) <> 0 OR sum(count) <> 0
         ORDER BY company_id, account_id, currency, month
    LOOP
        INSERT INTO ledger_monthmovement AS m (company_id, account_id, currency, month, amount, count)
        VALUES (cell.company_id, cell.account_id, cell.currency, cell.month, cell.amount, cell.count)
        ON CONFLICT (company_id, account_id, currency, month) DO UPDATE
            SET amount = m.amount + excluded.amount, count = m.count + excluded.count;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_movements_insert AFTER INSERT ON ledger_transaction
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_movements_insert();

CREATE OR REPLACE FUNCTION ledger_movements_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE cell record;
BEGIN
    FOR cell IN
        SELECT company_id, account_id, currency, date,
               sum(amount) AS amount, sum(inflow) AS inflow, sum(outflow) AS outflow, sum(count) AS count
          FROM (
                SELECT company_id, account_id, amount_currency AS currency, date, amount_value AS amount,
                       CASE WHEN source <> 'initialBalance' AND amount_value > 0
                            THEN amount_value - transferred_value ELSE 0 END AS inflow,
                       CASE WHEN source <> 'initialBalance' AND amount_value < 0
                            THEN transferred_value - amount_value ELSE 0 END AS outflow, 1 AS count
                  FROM new_rows WHERE NOT pending
                 UNION ALL
                SELECT company_id, account_id, amount_currency AS currency, date, - amount_value AS amount,
                       - CASE WHEN source <> 'initialBalance' AND amount_value > 0
                              THEN amount_value - transferred_value ELSE 0 END AS inflow,
                       - CASE WHEN source <> 'initialBalance' AND amount_value < 0
                              THEN transferred_value - amount_value ELSE 0 END AS outflow, - 1 AS count
                  FROM old_rows WHERE NOT pending
               ) AS moved
         GROUP BY company_id, account_id, currency, date
        HAVING sum(amount) <> 0 OR sum(inflow) <> 0 OR sum(outflow) <> 0 OR sum(count) <> 0
         ORDER BY company_id, account_id, currency, date
    LOOP
        INSERT INTO ledger_daymovement AS day (company_id, account_id, currency, date, amount, inflow, outflow, count)
        VALUES (cell.company_id, cell.account_id, cell.currency, cell.date,
                cell.amount, cell.inflow, cell.outflow, cell.count)
        ON CONFLICT (company_id, account_id, currency, date) DO UPDATE
            SET amount = day.amount + excluded.amount, inflow = day.inflow + excluded.inflow,
                outflow = day.outflow + excluded.outflow, count = day.count + excluded.count;
    END LOOP;
    FOR cell IN
        SELECT company_id, account_id, currency, date_trunc('month', date)::date AS month,
               sum(amount) AS amount, sum(count) AS count
          FROM (
                SELECT company_id, account_id, amount_currency AS currency, date, amount_value AS amount,
                       CASE WHEN source <> 'initialBalance' AND amount_value > 0
                            THEN amount_value - transferred_value ELSE 0 END AS inflow,
                       CASE WHEN source <> 'initialBalance' AND amount_value < 0
                            THEN transferred_value - amount_value ELSE 0 END AS outflow, 1 AS count
                  FROM new_rows WHERE NOT pending
                 UNION ALL
                SELECT company_id, account_id, amount_currency AS currency, date, - amount_value AS amount,
                       - CASE WHEN source <> 'initialBalance' AND amount_value > 0
                              THEN amount_value - transferred_value ELSE 0 END AS inflow,
                       - CASE WHEN source <> 'initialBalance' AND amount_value < 0
                              THEN transferred_value - amount_value ELSE 0 END AS outflow, - 1 AS count
                  FROM old_rows WHERE NOT pending
               ) AS moved
         GROUP BY company_id, account_id, currency, date_trunc('month', date)::date
        HAVING sum(amount) <> 0 OR sum(count) <> 0
         ORDER BY company_id, account_id, currency, month
    LOOP
        INSERT INTO ledger_monthmovement AS m (company_id, account_id, currency, month, amount, count)
        VALUES (cell.company_id, cell.account_id, cell.currency, cell.month, cell.amount, cell.count)
        ON CONFLICT (company_id, account_id, currency, month) DO UPDATE
            SET amount = m.amount + excluded.amount, count = m.count + excluded.count;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_movements_update AFTER UPDATE ON ledger_transaction
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_movements_update();

CREATE OR REPLACE FUNCTION ledger_movements_delete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE cell record;
BEGIN
    FOR cell IN
        SELECT company_id, account_id, currency, date,
               sum(amount) AS amount, sum(inflow) AS inflow, sum(outflow) AS outflow, sum(count) AS count
          FROM (
                SELECT company_id, account_id, amount_currency AS currency, date, - amount_value AS amount,
                       - CASE WHEN source <> 'initialBalance' AND amount_value > 0
                              THEN amount_value - transferred_value ELSE 0 END AS inflow,
                       - CASE WHEN source <> 'initialBalance' AND amount_value < 0
                              THEN transferred_value - amount_value ELSE 0 END AS outflow, - 1 AS count
                  FROM old_rows WHERE NOT pending
               ) AS moved
         GROUP BY company_id, account_id, currency, date
        HAVING sum(amount) <> 0 OR sum(inflow) <> 0 OR sum(outflow) <> 0 OR sum(count) <> 0
         ORDER BY company_id, account_id, currency, date
    LOOP
        INSERT INTO ledger_daymovement AS day (company_id, account_id, currency, date, amount, inflow, outflow, count)
        VALUES (cell.company_id, cell.account_id, cell.currency, cell.date,
                cell.amount, cell.inflow, cell.outflow, cell.count)
        ON CONFLICT (company_id, account_id, currency, date) DO UPDATE
            SET amount = day.amount + excluded.amount, inflow = day.inflow + excluded.inflow,
                outflow = day.outflow + excluded.outflow, count = day.count + excluded.count;
    END LOOP;
    FOR cell IN
        SELECT company_id, account_id, currency, date_trunc('month', date)::date AS month,
               sum(amount) AS amount, sum(count) AS count
          FROM (
                SELECT company_id, account_id, amount_currency AS currency, date, - amount_value AS amount,
                       - CASE WHEN source <> 'initialBalance' AND amount_value > 0
                              THEN amount_value - transferred_value ELSE 0 END AS inflow,
                       - CASE WHEN source <> 'initialBalance' AND amount_value < 0
                              THEN transferred_value - amount_value ELSE 0 END AS outflow, - 1 AS count
                  FROM old_rows WHERE NOT pending
               ) AS moved
         GROUP BY company_id, account_id, currency, date_trunc('month', date)::date
        HAVING sum(amount) <> 0 OR sum(count) <> 0
         ORDER BY company_id, account_id, currency, month
    LOOP
        INSERT INTO ledger_monthmovement AS m (company_id, account_id, currency, month, amount, count)
        VALUES (cell.company_id, cell.account_id, cell.currency, cell.month, cell.amount, cell.count)
        ON CONFLICT (company_id, account_id, currency, month) DO UPDATE
            SET amount = m.amount + excluded.amount, count = m.count + excluded.count;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_movements_delete AFTER DELETE ON ledger_transaction
    REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_movements_delete();

-- Postings: ledger_monthresult.
CREATE OR REPLACE FUNCTION ledger_results_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE cell record; copied uuid := ledger_get_copied_company();
BEGIN
    FOR cell IN
        SELECT company_id, month, pl_type, category_id, sum(base_amount) AS base_amount, sum(count) AS count
          FROM (
                SELECT company_id, month, pl_type, category_id, base_amount AS base_amount, 1 AS count FROM new_rows
                 WHERE company_id IS DISTINCT FROM copied
               ) AS posted
         GROUP BY company_id, month, pl_type, category_id
        HAVING sum(base_amount) <> 0 OR sum(count) <> 0
         ORDER BY company_id, month, pl_type, category_id
    LOOP
        INSERT INTO ledger_monthresult AS m (company_id, month, pl_type, category_id, base_amount, count)
        VALUES (cell.company_id, cell.month, cell.pl_type, cell.category_id, cell.base_amount, cell.count)
        ON CONFLICT (company_id, month, pl_type, category_id) DO UPDATE
            SET base_amount = m.base_amount + excluded.base_amount, count = m.count + excluded.count;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_results_insert AFTER INSERT ON ledger_posting
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_results_insert();

CREATE OR REPLACE FUNCTION ledger_results_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE cell record;
BEGIN
    FOR cell IN
        SELECT company_id, month, pl_type, category_id, sum(base_amount) AS base_amount, sum(count) AS count
          FROM (
                SELECT company_id, month, pl_type, category_id, base_amount AS base_amount, 1 AS count FROM new_rows
                 UNION ALL
                SELECT company_id, month, pl_type, category_id, - base_amount AS base_amount, - 1 AS count FROM old_rows
               ) AS posted
         GROUP BY company_id, month, pl_type, category_id
        HAVING sum(base_amount) <> 0 OR sum(count) <> 0
         ORDER BY company_id, month, pl_type, category_id
    LOOP
        INSERT INTO ledger_monthresult AS m (company_id, month, pl_type, category_id, base_amount, count)
        VALUES (cell.company_id, cell.month, cell.pl_type, cell.category_id, cell.base_amount, cell.count)
        ON CONFLICT (company_id, month, pl_type, category_id) DO UPDATE
            SET base_amount = m.base_amount + excluded.base_amount, count = m.count + excluded.count;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_results_update AFTER UPDATE ON ledger_posting
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_results_update();

CREATE OR REPLACE FUNCTION ledger_results_delete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE cell record;
BEGIN
    FOR cell IN
        SELECT company_id, month, pl_type, category_id, sum(base_amount) AS base_amount, sum(count) AS count
          FROM (
                SELECT company_id, month, pl_type, category_id, - base_amount AS base_amount, - 1 AS count FROM old_rows
               ) AS posted
         GROUP BY company_id, month, pl_type, category_id
        HAVING sum(base_amount) <> 0 OR sum(count) <> 0
         ORDER BY company_id, month, pl_type, category_id
    LOOP
        INSERT INTO ledger_monthresult AS m (company_id, month, pl_type, category_id, base_amount, count)
        VALUES (cell.company_id, cell.month, cell.pl_type, cell.category_id, cell.base_amount, cell.count)
        ON CONFLICT (company_id, month, pl_type, category_id) DO UPDATE
            SET base_amount = m.base_amount + excluded.base_amount, count = m.count + excluded.count;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_results_delete AFTER DELETE ON ledger_posting
    REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_results_delete();

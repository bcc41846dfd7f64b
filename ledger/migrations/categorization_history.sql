-- Categorization history (ledger_habit): for each name, how its latest 20 transactions were categorized. Suggestions
-- read one or two rows per name.
--
-- A statement tells which names it touched; their rows are counted again. Counted are transactions with one
-- categorization for the whole amount that a user or a rule made. Changes of a company run one after the other
-- (companies.change), so that two statements never wait for each other's names.
--
-- The planner has no statistics right after an import, so the functions switch off every plan but the one along the
-- indexes: categorizations are looked up by both columns of theirs, and sorting is off because only the index that
-- starts with the transaction returns their order. Each table is filtered by the company's value: on a cluster, that
-- shows that all rows are on one machine.

-- Categorizations: names of their transactions that are fully categorized already; the others follow with the change of
-- the transaction. Deleting needs no trigger: what follows in the same database transaction counts the names again.
CREATE OR REPLACE FUNCTION ledger_habits_categorization_insert() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_sort = off AS $$
DECLARE touched record; touched_names text[]; copied uuid := ledger_get_copied_company();
BEGIN
    FOR touched IN
        SELECT company_id, array_agg(DISTINCT transaction_id) AS ids
          FROM (
                SELECT company_id, transaction_id FROM new_rows WHERE company_id IS DISTINCT FROM copied
               ) AS parts
         GROUP BY company_id ORDER BY 1
    LOOP
        touched_names := ARRAY(
            SELECT DISTINCT lower(left(from_to, 100)) AS name FROM ledger_transaction
             WHERE company_id = touched.company_id AND id = ANY(touched.ids) AND from_to <> ''
               AND categorized_value = amount_value ORDER BY 1
        );
        DELETE FROM ledger_habit WHERE company_id = touched.company_id AND name = ANY(touched_names);
        INSERT INTO ledger_habit (company_id, name, place, category_id, pl_type, counterparty_id, count)
        SELECT touched.company_id, known.name, row_number() OVER (PARTITION BY known.name ORDER BY min(u.n)),
               u.category_id, u.pl_type, u.counterparty_id, count(*)
          FROM unnest(touched_names) AS known (name)
         CROSS JOIN LATERAL (
                SELECT p.category_id,
                       CASE WHEN p.revenue IS NOT NULL THEN 'revenue' WHEN p.cogs IS NOT NULL THEN 'cogs'
                            WHEN p.cac IS NOT NULL THEN 'cac' WHEN p.pd IS NOT NULL THEN 'pd'
                            WHEN p.ga IS NOT NULL THEN 'ga' WHEN p.no IS NOT NULL THEN 'no'
                            WHEN p.neutral IS NOT NULL THEN 'neutral' END AS pl_type,
                       p.counterparty_id, row_number() OVER (ORDER BY h.date DESC, h.id DESC) AS n
                  FROM ledger_transaction h
                 CROSS JOIN LATERAL (
                        SELECT * FROM ledger_categorization
                         WHERE company_id = touched.company_id AND transaction_id BETWEEN h.id AND h.id
                         ORDER BY transaction_id OFFSET 0
                       ) AS p
                 WHERE h.categorized_value <> 0 AND h.categorized_value = h.amount_value
                   AND h.source <> 'initialBalance' AND p.value = h.amount_value AND p.counter_id IS NULL
                   AND coalesce(p.revenue, p.cogs, p.cac, p.pd, p.ga, p.no, p.neutral) IS NOT NULL
                   AND (p.source_note IS NULL OR p.source_note NOT IN ('history', 'account'))
                   AND h.company_id = touched.company_id AND lower(left(h.from_to, 100)) = known.name
                 ORDER BY h.date DESC, h.id DESC LIMIT 20
               ) AS u
         GROUP BY known.name, u.category_id, u.pl_type, u.counterparty_id;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_habits_categorization_insert AFTER INSERT ON ledger_categorization
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_habits_categorization_insert();

CREATE OR REPLACE FUNCTION ledger_habits_categorization_update() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_sort = off AS $$
DECLARE touched record; touched_names text[];
BEGIN
    FOR touched IN
        SELECT company_id, array_agg(DISTINCT transaction_id) AS ids
          FROM (
                (SELECT company_id, transaction_id, id, category_id, counterparty_id, value, counter_id, source_note,
                        revenue, cogs, cac, pd, ga, no, neutral FROM new_rows
                 EXCEPT ALL
                 SELECT company_id, transaction_id, id, category_id, counterparty_id, value, counter_id, source_note,
                        revenue, cogs, cac, pd, ga, no, neutral FROM old_rows)
                UNION ALL
                (SELECT company_id, transaction_id, id, category_id, counterparty_id, value, counter_id, source_note,
                        revenue, cogs, cac, pd, ga, no, neutral FROM old_rows
                 EXCEPT ALL
                 SELECT company_id, transaction_id, id, category_id, counterparty_id, value, counter_id, source_note,
                        revenue, cogs, cac, pd, ga, no, neutral FROM new_rows)
               ) AS parts
         GROUP BY company_id ORDER BY 1
    LOOP
        touched_names := ARRAY(
            SELECT DISTINCT lower(left(from_to, 100)) AS name FROM ledger_transaction
             WHERE company_id = touched.company_id AND id = ANY(touched.ids) AND from_to <> ''
               AND categorized_value = amount_value ORDER BY 1
        );
        DELETE FROM ledger_habit WHERE company_id = touched.company_id AND name = ANY(touched_names);
        INSERT INTO ledger_habit (company_id, name, place, category_id, pl_type, counterparty_id, count)
        SELECT touched.company_id, known.name, row_number() OVER (PARTITION BY known.name ORDER BY min(u.n)),
               u.category_id, u.pl_type, u.counterparty_id, count(*)
          FROM unnest(touched_names) AS known (name)
         CROSS JOIN LATERAL (
                SELECT p.category_id,
                       CASE WHEN p.revenue IS NOT NULL THEN 'revenue' WHEN p.cogs IS NOT NULL THEN 'cogs'
                            WHEN p.cac IS NOT NULL THEN 'cac' WHEN p.pd IS NOT NULL THEN 'pd'
                            WHEN p.ga IS NOT NULL THEN 'ga' WHEN p.no IS NOT NULL THEN 'no'
                            WHEN p.neutral IS NOT NULL THEN 'neutral' END AS pl_type,
                       p.counterparty_id, row_number() OVER (ORDER BY h.date DESC, h.id DESC) AS n
                  FROM ledger_transaction h
                 CROSS JOIN LATERAL (
                        SELECT * FROM ledger_categorization
                         WHERE company_id = touched.company_id AND transaction_id BETWEEN h.id AND h.id
                         ORDER BY transaction_id OFFSET 0
                       ) AS p
                 WHERE h.categorized_value <> 0 AND h.categorized_value = h.amount_value
                   AND h.source <> 'initialBalance' AND p.value = h.amount_value AND p.counter_id IS NULL
                   AND coalesce(p.revenue, p.cogs, p.cac, p.pd, p.ga, p.no, p.neutral) IS NOT NULL
                   AND (p.source_note IS NULL OR p.source_note NOT IN ('history', 'account'))
                   AND h.company_id = touched.company_id AND lower(left(h.from_to, 100)) = known.name
                 ORDER BY h.date DESC, h.id DESC LIMIT 20
               ) AS u
         GROUP BY known.name, u.category_id, u.pl_type, u.counterparty_id;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_habits_categorization_update AFTER UPDATE ON ledger_categorization
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_habits_categorization_update();

-- Transactions: the names they had and have. Inserting needs no trigger: new transactions have no categorizations.
CREATE OR REPLACE FUNCTION ledger_habits_transaction_update() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_sort = off AS $$
DECLARE touched record; touched_names text[];
BEGIN
    FOR touched IN
        SELECT company_id, array_agg(DISTINCT name) AS names
          FROM (
                SELECT company_id, lower(left(from_to, 100)) AS name
                  FROM (
                        (SELECT company_id, id, date, amount_value, categorized_value, from_to FROM new_rows
                         EXCEPT ALL
                         SELECT company_id, id, date, amount_value, categorized_value, from_to FROM old_rows)
                        UNION ALL
                        (SELECT company_id, id, date, amount_value, categorized_value, from_to FROM old_rows
                         EXCEPT ALL
                         SELECT company_id, id, date, amount_value, categorized_value, from_to FROM new_rows)
                       ) AS differing
                 WHERE categorized_value <> 0
               ) AS moved
         WHERE name <> '' GROUP BY company_id ORDER BY 1
    LOOP
        touched_names := ARRAY(SELECT unnest(touched.names) AS name ORDER BY 1);
        DELETE FROM ledger_habit WHERE company_id = touched.company_id AND name = ANY(touched_names);
        INSERT INTO ledger_habit (company_id, name, place, category_id, pl_type, counterparty_id, count)
        SELECT touched.company_id, known.name, row_number() OVER (PARTITION BY known.name ORDER BY min(u.n)),
               u.category_id, u.pl_type, u.counterparty_id, count(*)
          FROM unnest(touched_names) AS known (name)
         CROSS JOIN LATERAL (
                SELECT p.category_id,
                       CASE WHEN p.revenue IS NOT NULL THEN 'revenue' WHEN p.cogs IS NOT NULL THEN 'cogs'
                            WHEN p.cac IS NOT NULL THEN 'cac' WHEN p.pd IS NOT NULL THEN 'pd'
                            WHEN p.ga IS NOT NULL THEN 'ga' WHEN p.no IS NOT NULL THEN 'no'
                            WHEN p.neutral IS NOT NULL THEN 'neutral' END AS pl_type,
                       p.counterparty_id, row_number() OVER (ORDER BY h.date DESC, h.id DESC) AS n
                  FROM ledger_transaction h
                 CROSS JOIN LATERAL (
                        SELECT * FROM ledger_categorization
                         WHERE company_id = touched.company_id AND transaction_id BETWEEN h.id AND h.id
                         ORDER BY transaction_id OFFSET 0
                       ) AS p
                 WHERE h.categorized_value <> 0 AND h.categorized_value = h.amount_value
                   AND h.source <> 'initialBalance' AND p.value = h.amount_value AND p.counter_id IS NULL
                   AND coalesce(p.revenue, p.cogs, p.cac, p.pd, p.ga, p.no, p.neutral) IS NOT NULL
                   AND (p.source_note IS NULL OR p.source_note NOT IN ('history', 'account'))
                   AND h.company_id = touched.company_id AND lower(left(h.from_to, 100)) = known.name
                 ORDER BY h.date DESC, h.id DESC LIMIT 20
               ) AS u
         GROUP BY known.name, u.category_id, u.pl_type, u.counterparty_id;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_habits_transaction_update AFTER UPDATE ON ledger_transaction
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_habits_transaction_update();

CREATE OR REPLACE FUNCTION ledger_habits_transaction_delete() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_sort = off AS $$
DECLARE touched record; touched_names text[];
BEGIN
    FOR touched IN
        SELECT company_id, array_agg(DISTINCT name) AS names
          FROM (
                SELECT company_id, lower(left(from_to, 100)) AS name FROM old_rows WHERE categorized_value <> 0
               ) AS moved
         WHERE name <> '' GROUP BY company_id ORDER BY 1
    LOOP
        touched_names := ARRAY(SELECT unnest(touched.names) AS name ORDER BY 1);
        DELETE FROM ledger_habit WHERE company_id = touched.company_id AND name = ANY(touched_names);
        INSERT INTO ledger_habit (company_id, name, place, category_id, pl_type, counterparty_id, count)
        SELECT touched.company_id, known.name, row_number() OVER (PARTITION BY known.name ORDER BY min(u.n)),
               u.category_id, u.pl_type, u.counterparty_id, count(*)
          FROM unnest(touched_names) AS known (name)
         CROSS JOIN LATERAL (
                SELECT p.category_id,
                       CASE WHEN p.revenue IS NOT NULL THEN 'revenue' WHEN p.cogs IS NOT NULL THEN 'cogs'
                            WHEN p.cac IS NOT NULL THEN 'cac' WHEN p.pd IS NOT NULL THEN 'pd'
                            WHEN p.ga IS NOT NULL THEN 'ga' WHEN p.no IS NOT NULL THEN 'no'
                            WHEN p.neutral IS NOT NULL THEN 'neutral' END AS pl_type,
                       p.counterparty_id, row_number() OVER (ORDER BY h.date DESC, h.id DESC) AS n
                  FROM ledger_transaction h
                 CROSS JOIN LATERAL (
                        SELECT * FROM ledger_categorization
                         WHERE company_id = touched.company_id AND transaction_id BETWEEN h.id AND h.id
                         ORDER BY transaction_id OFFSET 0
                       ) AS p
                 WHERE h.categorized_value <> 0 AND h.categorized_value = h.amount_value
                   AND h.source <> 'initialBalance' AND p.value = h.amount_value AND p.counter_id IS NULL
                   AND coalesce(p.revenue, p.cogs, p.cac, p.pd, p.ga, p.no, p.neutral) IS NOT NULL
                   AND (p.source_note IS NULL OR p.source_note NOT IN ('history', 'account'))
                   AND h.company_id = touched.company_id AND lower(left(h.from_to, 100)) = known.name
                 ORDER BY h.date DESC, h.id DESC LIMIT 20
               ) AS u
         GROUP BY known.name, u.category_id, u.pl_type, u.counterparty_id;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ledger_habits_transaction_delete AFTER DELETE ON ledger_transaction
    REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_habits_transaction_delete();

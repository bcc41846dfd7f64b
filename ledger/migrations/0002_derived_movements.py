"""Triggers that keep day_movement, month_movement and month_result exact with every insert, update and delete.

Statement triggers group the rows of one statement and upsert them one after the other in the order of the key: the
order rules out deadlocks between concurrent imports, and row-by-row upserts also run where tables are distributed.
"""

from django.db import migrations

# What one booked transaction adds to its day. {rows} is a transition table, {sign} turns what was into what is gone.
MOVEMENTS = """
    SELECT company_id, account_id, amount_currency AS currency, date,
           {sign} amount_value AS amount,
           {sign} CASE WHEN source <> 'initialBalance' AND amount_value > 0
                       THEN amount_value - transferred_value ELSE 0 END AS inflow,
           {sign} CASE WHEN source <> 'initialBalance' AND amount_value < 0
                       THEN transferred_value - amount_value ELSE 0 END AS outflow,
           {sign} 1 AS count
      FROM {rows} WHERE NOT pending
"""
BODY = """
CREATE FUNCTION ledger_movements_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE cell record;
BEGIN
    FOR cell IN
        SELECT company_id, account_id, currency, date,
               sum(amount) AS amount, sum(inflow) AS inflow, sum(outflow) AS outflow, sum(count) AS count
          FROM ({rows}) AS moved
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
          FROM ({rows}) AS moved
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
CREATE TRIGGER ledger_movements_{event} AFTER {event} ON ledger_transaction {referencing}
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_movements_{event}();
"""
RESULTS = """
CREATE FUNCTION ledger_results_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE cell record;
BEGIN
    FOR cell IN
        SELECT company_id, month, pl_type, category_id, sum(base_amount) AS base_amount, sum(count) AS count
          FROM ({rows}) AS posted
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
CREATE TRIGGER ledger_results_{event} AFTER {event} ON ledger_posting {referencing}
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_results_{event}();
"""
POSTINGS = (
    "SELECT company_id, month, pl_type, category_id, {sign} base_amount AS base_amount, {sign} 1 AS count FROM {rows}"
)
TABLES = {
    "insert": "REFERENCING NEW TABLE AS new_rows",
    "update": "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "delete": "REFERENCING OLD TABLE AS old_rows",
}


def rows(template: str, event: str) -> str:
    added, gone = template.format(sign="", rows="new_rows"), template.format(sign="-", rows="old_rows")
    return {"insert": added, "delete": gone, "update": f"{added} UNION ALL {gone}"}[event]


def triggers(body: str, template: str) -> str:
    return "".join(
        body.format(event=event, rows=rows(template, event), referencing=referencing)
        for event, referencing in TABLES.items()
    )


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial")]

    operations = [
        migrations.RunSQL(
            triggers(BODY, MOVEMENTS),
            "".join(f"DROP FUNCTION ledger_movements_{event}() CASCADE;" for event in TABLES),
        ),
        migrations.RunSQL(
            triggers(RESULTS, POSTINGS),
            "".join(f"DROP FUNCTION ledger_results_{event}() CASCADE;" for event in TABLES),
        ),
        migrations.RunSQL(
            "ALTER TABLE ledger_posting ADD CONSTRAINT ledger_posting_categorization FOREIGN KEY "
            "(company_id, categorization_id) REFERENCES ledger_categorization (company_id, id) ON DELETE CASCADE",
            "ALTER TABLE ledger_posting DROP CONSTRAINT ledger_posting_categorization",
        ),
    ]

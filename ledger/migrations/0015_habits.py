"""Triggers that keep, for each name, what its latest movements were for: proposals read a row or two a name.

A statement tells which names it touched; of each the latest twenty uses are counted anew. Incremental sums would forget
nothing, and a habit that has changed is to be soon another one. Changes of a company come one after the other
(companies.changing), so that two statements never wait for each other's names.
"""

import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

from companies.models.tenancy import SEQUENTIAL_MODE_SQL

LINES = ("revenue", "cogs", "cac", "pd", "ga", "no", "neutral")
ANY_LINE = ", ".join(f"p.{line}" for line in LINES)
LINE = "CASE " + " ".join(f"WHEN p.{line} IS NOT NULL THEN '{line}'" for line in LINES) + " END"
LATEST = 20

# A use: a movement that is as a whole for one thing, and a person or a rule said so. Its parts are asked for by both
# columns of their index whatever is known of the tables: with no statistics yet, a plain join would read all parts of
# the company for each movement. So does their primary key where it takes the company for a new one; only the index that
# begins with the transaction's id can give its order without sorting, which is switched off below. The company is named
# to each table by its value: on a cluster, that is what tells that all of it lies on one machine.
USES = f"""
    SELECT p.category_id, {LINE} AS pl_type, p.counterparty_id,
           row_number() OVER ({{partition}} ORDER BY h.date DESC, h.id DESC) AS n{{more}}
      FROM ledger_transaction h
      CROSS JOIN LATERAL (
            SELECT * FROM ledger_categorization
             WHERE company_id = {{company}} AND transaction_id BETWEEN h.id AND h.id ORDER BY transaction_id OFFSET 0
           ) AS p
     WHERE h.categorized_value <> 0 AND h.categorized_value = h.amount_value AND h.source <> 'initialBalance'
       AND p.value = h.amount_value AND p.counter_id IS NULL AND coalesce({ANY_LINE}) IS NOT NULL
       AND (p.source_note IS NULL OR p.source_note NOT IN ('history', 'account'))
"""  # noqa: S608 - our own words
COLUMNS = "company_id, name, place, category_id, pl_type, counterparty_id, count"
ONE = USES.format(company="touched.company_id", partition="", more="")
FUNCTION = f"""
CREATE OR REPLACE FUNCTION ledger_habits_{{of}}_{{event}}() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_sort = off AS $$
DECLARE touched record; touched_names text[];
BEGIN
    FOR touched IN {{touched}} LOOP
        touched_names := ARRAY({{names}});
        DELETE FROM ledger_habit WHERE company_id = touched.company_id AND name = ANY(touched_names);
        INSERT INTO ledger_habit ({COLUMNS})
        SELECT touched.company_id, known.name, row_number() OVER (PARTITION BY known.name ORDER BY min(u.n)),
               u.category_id, u.pl_type, u.counterparty_id, count(*)
          FROM unnest(touched_names) AS known (name)
         CROSS JOIN LATERAL (
                {ONE} AND h.company_id = touched.company_id AND lower(left(h.from_to, 100)) = known.name
                 ORDER BY h.date DESC, h.id DESC LIMIT {LATEST}
               ) AS u
         GROUP BY known.name, u.category_id, u.pl_type, u.counterparty_id;
    END LOOP;
    RETURN NULL;
END $$
"""  # noqa: S608
TRIGGER = """
CREATE OR REPLACE TRIGGER ledger_habits_{of}_{event} AFTER {event} ON ledger_{of} {referencing}
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_habits_{of}_{event}()
"""
TABLES = {
    "insert": "REFERENCING NEW TABLE AS new_rows",
    "update": "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "delete": "REFERENCING OLD TABLE AS old_rows",
}
PART = f"company_id, transaction_id, id, category_id, counterparty_id, value, counter_id, source_note, {', '.join(LINES)}"
DIFFERING = """
        (SELECT {columns} FROM new_rows EXCEPT ALL SELECT {columns} FROM old_rows) UNION ALL
        (SELECT {columns} FROM old_rows EXCEPT ALL SELECT {columns} FROM new_rows)
"""
ROWS = {
    "insert": "SELECT company_id, transaction_id FROM new_rows",
    "update": DIFFERING.format(columns=PART),
    "delete": "SELECT company_id, transaction_id FROM old_rows",
}
# Of parts: the names of their transactions, where those are whole already; else the transaction's own change follows.
PARTS = (
    "SELECT company_id, array_agg(DISTINCT transaction_id) AS ids FROM ({rows}) AS parts GROUP BY company_id ORDER BY 1"
)
NAMES_OF_PARTS = """
            SELECT DISTINCT lower(left(from_to, 100)) AS name FROM ledger_transaction
             WHERE company_id = touched.company_id AND id = ANY(touched.ids) AND from_to <> ''
               AND categorized_value = amount_value ORDER BY 1
"""
# Of transactions: the names that they had and have, where something differs that a use depends on.
MOVED = """
    SELECT company_id, array_agg(DISTINCT name) AS names FROM ({rows}) AS moved WHERE name <> '' GROUP BY company_id
     ORDER BY 1
"""
NAMES_MOVED = "SELECT unnest(touched.names) AS name ORDER BY 1"
USE = "company_id, id, date, amount_value, categorized_value, from_to"
CHANGED = f"""
    SELECT company_id, lower(left(from_to, 100)) AS name FROM ({DIFFERING.format(columns=USE)}) AS differing
     WHERE categorized_value <> 0
"""  # noqa: S608
GONE = "SELECT company_id, lower(left(from_to, 100)) AS name FROM old_rows WHERE categorized_value <> 0"


def of_parts(event: str) -> str:
    return FUNCTION.format(of="categorization", event=event, touched=PARTS.format(rows=ROWS[event]), names=NAMES_OF_PARTS)


def of_transactions(event: str, rows: str) -> str:
    """Not for inserts: what is new has no parts yet."""
    return FUNCTION.format(of="transaction", event=event, touched=MOVED.format(rows=rows), names=NAMES_MOVED)


FUNCTIONS = {
    **{("categorization", event): of_parts(event) for event in TABLES},
    ("transaction", "update"): of_transactions("update", CHANGED),
    ("transaction", "delete"): of_transactions("delete", GONE),
}
STATEMENTS = [  # one by one: a cluster passes on a trigger as it was given
    *FUNCTIONS.values(),
    *(TRIGGER.format(of=of, event=event, referencing=TABLES[event]) for of, event in FUNCTIONS),
]
NAME = ", h.company_id, lower(left(h.from_to, 100)) AS name"
FILL = f"""
    INSERT INTO ledger_habit ({COLUMNS})
    SELECT company_id, name, row_number() OVER (PARTITION BY company_id, name ORDER BY min(n)),
           category_id, pl_type, counterparty_id, count(*)
      FROM ({USES.format(company="h.company_id", partition="PARTITION BY h.company_id, lower(left(h.from_to, 100))", more=NAME)}
              AND h.from_to <> '') AS uses
     WHERE n <= {LATEST}
     GROUP BY company_id, name, category_id, pl_type, counterparty_id
"""  # noqa: S608


class Migration(migrations.Migration):
    dependencies = [("companies", "0009_auto_categorize"), ("ledger", "0014_categorization_rules")]

    operations = [
        migrations.RunSQL(SEQUENTIAL_MODE_SQL, migrations.RunSQL.noop),
        migrations.CreateModel(
            name="Habit",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "company_id", "name", "place", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.TextField()),
                ("place", models.SmallIntegerField()),
                ("category_id", models.UUIDField()),
                (
                    "pl_type",
                    models.CharField(choices=[(line, line.capitalize()) for line in LINES], max_length=10),
                ),
                ("counterparty_id", models.UUIDField(null=True)),
                ("count", models.SmallIntegerField()),
                (
                    "company",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="companies.company",
                    ),
                ),
            ],
        ),
        migrations.RemoveIndex(model_name="transaction", name="transaction_known_by_name"),
        migrations.AddIndex(
            model_name="transaction",
            index=models.Index(
                models.F("company"),
                django.db.models.functions.text.Lower(django.db.models.functions.text.Left("from_to", 100)),
                models.OrderBy(models.F("date"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("categorized_value", 0), _negated=True),
                name="transaction_known_by_name",
            ),
        ),
        migrations.RunSQL(
            STATEMENTS, [f"DROP FUNCTION ledger_habits_{of}_{event}() CASCADE" for of, event in FUNCTIONS]
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]

"""The derived categorization history by name: rebuilt from transactions, or compared with them."""

from uuid import UUID

from django.db import connection

from ledger.rules.calc.category_proposals import HISTORY_LIMITS
from ledger.rules.queries.history_statements import FULLY_CATEGORIZED_SQL, PAST_CATEGORIZATION_SQL

# The counts that the triggers maintain, as a plain query over the transactions.
_FACTS = f"""
    SELECT company_id, name, row_number() OVER (PARTITION BY name ORDER BY min(n)) AS place,
           category_id, pl_type, counterparty_id, count(*) AS count
      FROM (SELECT h.company_id, lower(left(h.from_to, 100)) AS name, {PAST_CATEGORIZATION_SQL},
                   row_number() OVER (PARTITION BY lower(left(h.from_to, 100)) ORDER BY h.date DESC, h.id DESC) AS n
              FROM ledger_transaction h {FULLY_CATEGORIZED_SQL} AND h.from_to <> '') AS uses
     WHERE n <= %(latest)s
     GROUP BY company_id, name, category_id, pl_type, counterparty_id
"""  # noqa: S608 - our own words
_COLUMNS = "company_id, name, place, category_id, pl_type, counterparty_id, count"
_STORED = f"SELECT {_COLUMNS} FROM ledger_habit WHERE company_id = %(company)s"  # noqa: S608


def rebuild_categorization_history(company_id: UUID) -> None:
    """Replace the company's categorization history by one computed from its transactions."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM ledger_habit WHERE company_id = %(company)s", {"company": company_id})
        cursor.execute(f"INSERT INTO ledger_habit ({_COLUMNS}) {_FACTS}", {"company": company_id, **HISTORY_LIMITS})


def find_categorization_history_differences(company_id: UUID) -> list[str]:
    """Return where the categorization history differs from the transactions; empty if they agree."""
    query = f"""
        (SELECT 'too much', d.* FROM ({_STORED} EXCEPT SELECT {_COLUMNS} FROM ({_FACTS}) AS f) AS d)
        UNION ALL
        (SELECT 'missing', d.* FROM (SELECT {_COLUMNS} FROM ({_FACTS}) AS f EXCEPT {_STORED}) AS d) LIMIT 100
    """  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(query, {"company": company_id, **HISTORY_LIMITS})
        return [f"ledger_habit: {' '.join(map(str, row))}" for row in cursor.fetchall()]

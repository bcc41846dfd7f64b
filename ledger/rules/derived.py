"""The derived habits, rebuilt or proved from the movements they are derived from."""

from uuid import UUID

from django.db import connection

from ledger.rules.calc.proposing import LATEST
from ledger.rules.habits import USE, WHOLE

# What the triggers count, written once more as a plain query over the facts.
_FACTS = f"""
    SELECT company_id, name, row_number() OVER (PARTITION BY name ORDER BY min(n)) AS place,
           category_id, pl_type, counterparty_id, count(*) AS count
      FROM (SELECT h.company_id, lower(left(h.from_to, 100)) AS name, {USE},
                   row_number() OVER (PARTITION BY lower(left(h.from_to, 100)) ORDER BY h.date DESC, h.id DESC) AS n
              FROM ledger_transaction h {WHOLE} AND h.from_to <> '') AS uses
     WHERE n <= %(latest)s
     GROUP BY company_id, name, category_id, pl_type, counterparty_id
"""  # noqa: S608 - our own words
_COLUMNS = "company_id, name, place, category_id, pl_type, counterparty_id, count"
_STORED = f"SELECT {_COLUMNS} FROM ledger_habit WHERE company_id = %(company)s"  # noqa: S608


def rebuild(company_id: UUID) -> None:
    """Replaces the company's habits by what its movements say."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM ledger_habit WHERE company_id = %(company)s", {"company": company_id})
        cursor.execute(f"INSERT INTO ledger_habit ({_COLUMNS}) {_FACTS}", {"company": company_id, **LATEST})


def differences(company_id: UUID) -> list[str]:
    """What the habits say otherwise than the movements; empty when all is exact."""
    query = f"""
        (SELECT 'too much', d.* FROM ({_STORED} EXCEPT SELECT {_COLUMNS} FROM ({_FACTS}) AS f) AS d)
        UNION ALL
        (SELECT 'missing', d.* FROM (SELECT {_COLUMNS} FROM ({_FACTS}) AS f EXCEPT {_STORED}) AS d) LIMIT 100
    """  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(query, {"company": company_id, **LATEST})
        return [f"ledger_habit: {' '.join(map(str, row))}" for row in cursor.fetchall()]

"""The derived movements, rebuilt or proved from the transactions they are derived from."""

from uuid import UUID

from django.db import connection

# What the triggers add up, written once more as a plain query over the facts.
_DAYS = """
    SELECT company_id, account_id, amount_currency AS currency, date, sum(amount_value) AS amount,
           sum(CASE WHEN source <> 'initialBalance' AND amount_value > 0 THEN amount_value - transferred_value
                    ELSE 0 END) AS inflow,
           sum(CASE WHEN source <> 'initialBalance' AND amount_value < 0 THEN transferred_value - amount_value
                    ELSE 0 END) AS outflow,
           count(*)::int AS count
      FROM ledger_transaction WHERE company_id = %(company)s AND NOT pending
     GROUP BY company_id, account_id, amount_currency, date
"""
_MONTHS = """
    SELECT company_id, account_id, amount_currency AS currency, date_trunc('month', date)::date AS month,
           sum(amount_value) AS amount, count(*)::int AS count
      FROM ledger_transaction WHERE company_id = %(company)s AND NOT pending
     GROUP BY company_id, account_id, amount_currency, date_trunc('month', date)::date
"""
TABLES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "ledger_daymovement": (_DAYS, ("account_id", "currency", "date"), ("amount", "inflow", "outflow", "count")),
    "ledger_monthmovement": (_MONTHS, ("account_id", "currency", "month"), ("amount", "count")),
}


def rebuild(company_id: UUID) -> None:
    """Replaces the company's derived movements by what the transactions say."""
    with connection.cursor() as cursor:
        for table, (facts, key, values) in TABLES.items():
            columns = ", ".join(("company_id", *key, *values))
            cursor.execute(f"DELETE FROM {table} WHERE company_id = %(company)s", {"company": company_id})  # noqa: S608
            cursor.execute(
                f"INSERT INTO {table} ({columns}) SELECT {columns} FROM ({facts}) AS facts",  # noqa: S608
                {"company": company_id},
            )


def differences(company_id: UUID) -> list[str]:
    """What the derived movements say otherwise than the transactions; empty when all is exact.

    A cell without transactions may stand with zeros or not at all.
    """
    found: list[str] = []
    with connection.cursor() as cursor:
        for table, (facts, key, values) in TABLES.items():
            cursor.execute(comparison(table, facts, key, values), {"company": company_id})
            names = [column.name for column in cursor.description or ()]
            found += [f"{table}: {dict(zip(names, map(str, row), strict=True))}" for row in cursor.fetchall()]
    return found


def comparison(table: str, facts: str, key: tuple[str, ...], values: tuple[str, ...]) -> str:
    """A query for the cells in which a derived table and its facts differ."""
    shown = ", ".join(f"coalesce(d.{name}, 0) AS {name}, coalesce(f.{name}, 0) AS {name}_by_facts" for name in values)
    differ = " OR ".join(f"coalesce(d.{name}, 0) <> coalesce(f.{name}, 0)" for name in values)
    return (
        f"SELECT {', '.join(key)}, {shown} "  # noqa: S608 - names are those above
        f"FROM (SELECT * FROM {table} WHERE company_id = %(company)s) AS d "
        f"FULL JOIN ({facts}) AS f USING ({', '.join(key)}) WHERE {differ} LIMIT 100"
    )

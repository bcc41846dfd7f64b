"""The derived daily and monthly account movements: rebuilt from transactions, or compared with them."""

from uuid import UUID

from django.db import connection

# The sums that the triggers maintain, as a plain query over the transactions.
_DAILY_FACTS = """
    SELECT company_id, account_id, amount_currency AS currency, date, sum(amount_value) AS amount,
           sum(CASE WHEN source <> 'initialBalance' AND amount_value > 0 THEN amount_value - transferred_value
                    ELSE 0 END) AS inflow,
           sum(CASE WHEN source <> 'initialBalance' AND amount_value < 0 THEN transferred_value - amount_value
                    ELSE 0 END) AS outflow,
           count(*)::int AS count
      FROM ledger_transaction WHERE company_id = %(company)s AND NOT pending
     GROUP BY company_id, account_id, amount_currency, date
"""
_MONTHLY_FACTS = """
    SELECT company_id, account_id, amount_currency AS currency, date_trunc('month', date)::date AS month,
           sum(amount_value) AS amount, count(*)::int AS count
      FROM ledger_transaction WHERE company_id = %(company)s AND NOT pending
     GROUP BY company_id, account_id, amount_currency, date_trunc('month', date)::date
"""
DERIVED_TABLES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "ledger_daymovement": (_DAILY_FACTS, ("account_id", "currency", "date"), ("amount", "inflow", "outflow", "count")),
    "ledger_monthmovement": (_MONTHLY_FACTS, ("account_id", "currency", "month"), ("amount", "count")),
}


def rebuild_account_movements(company_id: UUID) -> None:
    """Replace the company's derived movements by those computed from its transactions."""
    with connection.cursor() as cursor:
        for table, (source_sql, key, values) in DERIVED_TABLES.items():
            columns = ", ".join(("company_id", *key, *values))
            cursor.execute(f"DELETE FROM {table} WHERE company_id = %(company)s", {"company": company_id})  # noqa: S608
            cursor.execute(
                f"INSERT INTO {table} ({columns}) SELECT {columns} FROM ({source_sql}) AS facts",  # noqa: S608
                {"company": company_id},
            )


def find_account_movement_differences(company_id: UUID) -> list[str]:
    """Return where derived movements differ from the transactions; empty if all agree.

    A row without transactions may have zeros or be missing.
    """
    differences: list[str] = []
    with connection.cursor() as cursor:
        for table, (source_sql, key, values) in DERIVED_TABLES.items():
            cursor.execute(build_comparison_query(table, source_sql, key, values), {"company": company_id})
            names = [column.name for column in cursor.description or ()]
            differences += [f"{table}: {dict(zip(names, map(str, row), strict=True))}" for row in cursor.fetchall()]
    return differences


def build_comparison_query(table: str, source_sql: str, key: tuple[str, ...], values: tuple[str, ...]) -> str:
    """Return a query for the rows in which a derived table and its facts differ."""
    compared_columns = ", ".join(
        f"coalesce(d.{name}, 0) AS {name}, coalesce(f.{name}, 0) AS {name}_by_facts" for name in values
    )
    difference_condition = " OR ".join(f"coalesce(d.{name}, 0) <> coalesce(f.{name}, 0)" for name in values)
    return (
        f"SELECT {', '.join(key)}, {compared_columns} "  # noqa: S608 - names are those above
        f"FROM (SELECT * FROM {table} WHERE company_id = %(company)s) AS d "
        f"FULL JOIN ({source_sql}) AS f USING ({', '.join(key)}) WHERE {difference_condition} LIMIT 100"
    )

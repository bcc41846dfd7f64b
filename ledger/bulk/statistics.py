"""The planner's statistics after a bulk act.

The database looks by itself about once a minute; until then it takes a table that was just filled for as small as it
was, and a query that follows at once may scan all of it for every row.
"""

from django.db import connection, transaction

MANY = 10_000  # rows; fewer change no plan


def gather_after(*tables: str, rows: int) -> None:
    """Has the tables looked at when the transaction is committed, where it wrote many rows; a tenth of a second."""
    if rows >= MANY:
        transaction.on_commit(lambda: gather(*tables))


def gather(*tables: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(tables)}")

"""The planner's statistics after a bulk act.

The database looks by itself about once a minute, at tables of which a share is new (config/databases/cluster).

Until then it takes a table that was just filled for as small as it was, and expects a single row in it of a company
that is new beside others: a query that joins tables then reads all of the company again for each of its rows.

On a cluster each machine looks by itself alone: asked for here, all would look at the rows of all companies.
"""

from uuid import UUID

from django.db import connection, transaction

from companies.models.tenancy import is_distributed

MANY = 10_000  # rows; fewer change no plan of a company that is known
SOME = 100  # of one that is not; fewer are read in no time, whatever the plan

# All companies are listed, and this is none of them. Where there are too many to list, some rows of each are expected.
_STRANGER = """
    SELECT count(*) FROM pg_stats
     WHERE schemaname = current_schema() AND tablename = ANY(%s) AND attname = 'company_id'
       AND %s <> ALL (most_common_vals::text::text[])
       AND (SELECT sum(share) FROM unnest(most_common_freqs) AS share) > 0.99
"""


def gather_after(*tables: str, rows: int, company_id: UUID) -> None:
    """Has the tables looked at when the transaction is committed, where that changes plans; a tenth of a second."""
    if rows >= SOME:
        transaction.on_commit(lambda: gather_where_needed(*tables, rows=rows, company_id=company_id))


def gather_where_needed(*tables: str, rows: int, company_id: UUID) -> None:
    if (rows >= MANY or stranger(company_id, tables)) and not is_distributed(connection, tables[0]):
        gather(*tables)


def gather(*tables: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(tables)}")


def stranger(company_id: UUID, tables: tuple[str, ...]) -> bool:
    """Whether the statistics of one of the tables know companies, and not this one."""
    with connection.cursor() as cursor:
        cursor.execute(_STRANGER, [list(tables), str(company_id)])
        return bool(cursor.fetchone()[0])

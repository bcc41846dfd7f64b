"""Refresh the PostgreSQL planner's statistics after a bulk load.

Autovacuum analyzes a table about once a minute, after a share of its rows has changed
(config/databases/cluster). Until then the planner assumes the old size of the table, and one row for a
company it does not know: queries that join tables then read all rows of the company again for each row.

On a Citus cluster each node analyzes its own tables; an ANALYZE from here would scan the rows of all
companies.
"""

from uuid import UUID

from django.db import connection, transaction

from companies.models import AuditContext, Company
from companies.models.tenancy import is_distributed

LARGE_LOAD_ROWS = 10_000  # fewer rows do not change the plans of a known company
GROWN_TABLE_ROWS = 1000  # fewer rows are read fast with any plan
NEW_COMPANY_LOAD_ROWS = 100  # of an unknown company; fewer rows are read fast with any plan

# True if the most common values cover nearly all rows (few companies) and this company is not among them.
_COUNT_UNKNOWN_COMPANY = """
    SELECT count(*) FROM pg_stats
     WHERE schemaname = current_schema() AND tablename = ANY(%s) AND attname = 'company_id'
       AND %s <> ALL (most_common_vals::text::text[])
       AND (SELECT sum(share) FROM unnest(most_common_freqs) AS share) > 0.99
"""


def analyze_grown_table(table: str, *, rows: int) -> None:
    """Analyze a table within the transaction if it got more rows than the planner thinks it has.

    Until then, checks of foreign keys keep the plan that a connection made while the table was small, such as reading
    all rows of the company: 10,000 rows that refer to 10,000 new ones took 14 s. A table that is being analyzed is
    skipped, so that no company waits for another.
    """
    if rows < GROWN_TABLE_ROWS or is_distributed(connection, table):
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
        if cursor.fetchone()[0] < rows:
            cursor.execute(f"ANALYZE (SKIP_LOCKED) {table}")


def analyze_after_commit(*tables: str, rows: int, company_id: UUID) -> None:
    """Analyze tables after the commit if the loaded rows change query plans; takes about 0.1 s."""
    if rows >= NEW_COMPANY_LOAD_ROWS:
        transaction.on_commit(lambda: analyze_if_needed(*tables, rows=rows, company_id=company_id))


def analyze_copied_tables(*, source: Company, company: Company, counts: dict[str, int], context: AuditContext) -> None:
    """Analyze the tables of which a copy of a company got many rows."""
    for table, rows in counts.items():
        analyze_after_commit(table, rows=rows, company_id=company.id)


def analyze_if_needed(*tables: str, rows: int, company_id: UUID) -> None:
    """Analyze tables after a large load, or if the planner does not know the company; never on a cluster."""
    if (rows >= LARGE_LOAD_ROWS or is_unknown_to_planner(company_id, tables)) and not is_distributed(
        connection, tables[0]
    ):
        analyze_tables(*tables)


def analyze_tables(*tables: str) -> None:
    """Run ANALYZE on tables."""
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(tables)}")


def is_unknown_to_planner(company_id: UUID, tables: tuple[str, ...]) -> bool:
    """Return whether the statistics of one of the tables list companies but not this one."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_UNKNOWN_COMPANY, [list(tables), str(company_id)])
        return bool(cursor.fetchone()[0])

"""Links from audit entries to transactions, from which a transaction's history is built."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import connection

from companies.change import CompanyChange
from companies.models import AuditEntry

# Raw SQL: one array of ids, since bulk actions link thousands of transactions.
_INSERT_LINKS = """
    INSERT INTO ledger_transactiontouched (company_id, id, entry_id, transaction_id, as_partner)
    SELECT %(company)s, gen_random_uuid(), %(entry)s, each.id, %(as_partner)s
      FROM unnest(%(ids)s::uuid[]) AS each (id)
"""


def link_audit_entry(
    change: CompanyChange, entry: AuditEntry, ids: Collection[UUID], *, partners: Collection[UUID] = ()
) -> None:
    """Link an audit entry to the transactions it is about, and to `partners`, the other legs of their transfers.

    One statement for each of the two; none without ids.
    """
    params: dict[str, Any] = {"company": change.company.id, "entry": entry.id}
    for transaction_ids, as_partner in ((sorted({*ids}), False), (sorted({*partners}.difference(ids)), True)):
        if transaction_ids:
            with connection.cursor() as cursor:
                cursor.execute(_INSERT_LINKS, params | {"ids": transaction_ids, "as_partner": as_partner})

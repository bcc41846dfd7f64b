"""Which transactions an entry of the log is about: kept beside it, so that each can tell its own history."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import connection

from companies.changing import Change
from companies.models import AuditEntry

_TOUCHED = """
    INSERT INTO ledger_transactiontouched (company_id, id, entry_id, transaction_id, as_partner)
    SELECT %(company)s, gen_random_uuid(), %(entry)s, each.id, %(as_partner)s
      FROM unnest(%(ids)s::uuid[]) AS each (id)
"""


def touched(change: Change, entry: AuditEntry, ids: Collection[UUID], *, partners: Collection[UUID] = ()) -> None:
    """Remembers that the entry is about the transactions, and about ``partners`` as the other legs of their transfers.

    One statement for each of both; none where there are no ids.
    """
    names: dict[str, Any] = {"company": change.company.id, "entry": entry.id}
    for group, as_partner in ((sorted({*ids}), False), (sorted({*partners}.difference(ids)), True)):
        if group:
            with connection.cursor() as cursor:
                cursor.execute(_TOUCHED, names | {"ids": group, "as_partner": as_partner})

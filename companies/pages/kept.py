"""Parts of pages that are drawn once and shown again for as long as nothing in their company has changed.

Whatever changes a company's facts leaves a row in its audit log, in the same transaction. A part is kept with what was
committed before it was drawn: while the log has no row from after that, to draw it again would give the same.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from django.core.cache import caches
from django.db import connection
from django.utils.safestring import SafeString

from companies.models import AuditEntry
from companies.models.audit import this_moment


def kept(*, company_id: UUID, name: str, of: Sequence[object], draw: Callable[[], str]) -> SafeString:
    """What ``draw`` returns, HTML without anything of the request in it.

    ``of`` is all that it depends on besides the company's facts: the day, the period, who may see what; each without
    spaces as a text.
    """
    if connection.in_atomic_block:  # it sees what nobody else does, and what may yet be undone
        return SafeString(draw())
    pages, key = caches["pages"], ":".join(map(str, (name, company_id, *of)))
    then, part = pages.get(key, ("", ""))
    now = this_moment()
    if not then or AuditEntry.objects.any_between(company_id, then, now):
        part = draw()
        pages.set(key, (now, part))
    return SafeString(part)

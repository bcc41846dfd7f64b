"""Parts of pages that are drawn once and shown again for as long as nothing in their company has changed.

Whatever changes a company's facts leaves a row in its audit log, in the same transaction, and the rows are numbered in
the order of their commits. A part is kept with the last number from before it was drawn: while that is still the last
one, to draw it again would give the same.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from django.core.cache import caches
from django.db import connection
from django.utils.safestring import SafeString

from companies.locales import current
from companies.models import LogMonth


def kept(*, company_id: UUID, name: str, of: Sequence[object], draw: Callable[[], str]) -> SafeString:
    """What ``draw`` returns, HTML without anything of the request in it.

    ``of`` is all that it depends on besides the company's facts and the reader's locale: the day, the period, who may
    see what; each without spaces as a text.
    """
    if connection.in_atomic_block:  # it sees what nobody else does, and what may yet be undone
        return SafeString(draw())
    pages, key = caches["pages"], ":".join(map(str, (name, company_id, current().tag, *of)))
    drawn_at, part = pages.get(key, (None, ""))
    last = LogMonth.objects.of(company_id).newest_number()
    if drawn_at != last:
        part = draw()
        pages.set(key, (last, part))
    return SafeString(part)

"""Fragment cache: parts of pages, cached until data of their company changes.

Every change of a company writes an audit entry in the same transaction, numbered in commit order. A
fragment is cached with the last number before it was rendered; it is valid while that is still the last
number.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from django.core.cache import caches
from django.db import connection
from django.utils.safestring import SafeString

from companies.locales import get_current_locale
from companies.models import LogMonth


def get_cached_fragment(
    *, company_id: UUID, name: str, depends_on: Sequence[object], render: Callable[[], str]
) -> SafeString:
    """Return the cached HTML of a fragment, rendering it if needed. It must not contain anything of the request.

    `depends_on`: everything else it depends on, such as the day, the period and permissions; no spaces in
    their text.
    """
    if connection.in_atomic_block:  # uncommitted data must not be cached
        return SafeString(render())
    cache, key = caches["pages"], ":".join(map(str, (name, company_id, get_current_locale().tag, *depends_on)))
    cached_number, html = cache.get(key, (None, ""))
    last_number = LogMonth.objects.for_company(company_id).get_newest_number()
    if cached_number != last_number:
        html = render()
        cache.set(key, (last_number, html))
    return SafeString(html)

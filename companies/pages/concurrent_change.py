"""Error of a form whose row was changed by somebody else while it was open.

The form sends the version of the row it was rendered from as ``seen`` (``companies/versions.py``).
"""

from companies.errors import ConflictError


class ConcurrentChange(ConflictError):
    """Somebody changed it while this page was open. Look at what is there now, then send again."""

    code = "concurrent_change"

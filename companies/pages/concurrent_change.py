"""Error of a form whose row was changed by somebody else while it was open.

The form sends the version of the row it was rendered from as ``seen`` (``companies/versions.py``).
"""

from companies.errors import ConflictError


class ConcurrentChange(ConflictError):
    """Someone else changed this in the meantime. Review the current values and submit again."""

    code = "concurrent_change"

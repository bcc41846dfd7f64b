"""Forms about a row that somebody else changed while they stood open: nobody overwrites what they have not seen.

Such a form sends back, as ``seen``, the version of the row that it was made of (``companies/versions.py``).
"""

from companies.errors import Conflict


class ChangedMeanwhile(Conflict):
    """Somebody changed it while this page was open. Look at what is there now, then send again."""

    code = "concurrent_change"

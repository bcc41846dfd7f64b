"""Forms about a row that somebody else changed while they stood open: nobody overwrites what they have not seen."""

from collections.abc import Mapping
from typing import Any

from companies.errors import Conflict


class ChangedMeanwhile(Conflict):
    """Somebody changed it while this page was open. Look at what is there now, then send again."""

    code = "concurrent_change"


def seen(row: Any) -> str:
    """What a form about the row sends back: the time of the change that it was made of."""
    changed: str = row.last_updated_time.isoformat()
    return changed


def unless_changed(row: Any, posted: Mapping[str, str]) -> None:
    """Raises ChangedMeanwhile where the form was made of an older state. Call with the row locked."""
    if posted.get("seen", seen(row)) != seen(row):
        raise ChangedMeanwhile

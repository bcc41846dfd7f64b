"""What other apps do when something happens to a company.

This app stands below all others and cannot call them; the table FOLLOW_UPS in the settings names, for each event, the
functions to call, in order and in the same transaction.
"""

from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string


def follow_up(event: str, **facts: Any) -> None:
    """Calls every function that the settings name for the event."""
    for path in settings.FOLLOW_UPS[event]:
        import_string(path)(**facts)

"""What transactions settle: the app above, which plans, is asked through the settings."""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string


def settled_by(*, company_id: UUID, transaction_ids: Iterable[UUID]) -> dict[UUID, Any]:
    """Transaction → the occurrence that it settles, with its ``planned_id``, ``date`` and ``name``; one statement."""
    if not settings.SETTLED_OCCURRENCES:
        return {}
    ask: Callable[..., Any] = import_string(settings.SETTLED_OCCURRENCES)
    found: dict[UUID, Any] = ask(company_id=company_id, transaction_ids=list(transaction_ids))
    return found

"""The undo action in the message about a write-off."""

import datetime as dt
from uuid import UUID

from django.urls import reverse

from companies.models import parse_id
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.inbox.pages.inbox import UndoForm
from planning.planned_transactions.serializers import parse_date_or_none

WRITTEN_OFF_PARAMETER = "writtenOff"  # address parameter: the occurrence that was just written off
WRITE_OFFS_FIELD = "writeOffs"  # form field: take back write-offs only


def format_write_off(planned_id: UUID, original_date: dt.date) -> str:
    """Return an occurrence as a value of the address parameter; `get_write_off_undo` reads it."""
    return f"{planned_id}.{original_date}"


def get_write_off_undo(page: CompanyPage, *, return_page: str) -> UndoForm | None:
    """Return the form that takes back the write-off of the address; None without one.

    Args:
        return_page: the page that the form returns to, as the buttons of occurrences name it.
    """
    planned_id, _, day = page.request.GET.get(WRITTEN_OFF_PARAMETER, "").partition(".")
    original_date = parse_date_or_none(day)
    if not (parse_id(planned_id) and original_date and page.has_permission(Permission.PLANNING_WRITE)):
        return None
    address = reverse("occurrence-unsettle", args=[page.company.id, parse_id(planned_id), original_date])
    return UndoForm(address, {WRITE_OFFS_FIELD: "1", "from": return_page, "then": page.request.GET.urlencode()})

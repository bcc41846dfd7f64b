"""Time zones of companies: which names are valid, and which day it is for a company."""

from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from companies.models import Company

UTC_NAME = "UTC"
MAX_TIME_ZONE_LENGTH = 64
SYSTEM_FILES = {"Factory", "localtime"}  # that lie beside the zones of some systems
INVALID_TIME_ZONE = gettext_lazy("Must be an IANA time zone such as Europe/Berlin or UTC.")


@cache
def list_time_zones() -> tuple[str, ...]:
    """Return the names of the IANA time zone database, in order."""
    return tuple(sorted(available_timezones() - SYSTEM_FILES))


def list_regional_time_zones() -> list[str]:
    """Return UTC and the zones that are named for a place; those that a form offers."""
    names = (name for name in list_time_zones() if "/" in name and not name.startswith(("Etc/", "SystemV/")))
    return [UTC_NAME, *names]


def check_time_zone(name: str) -> None:
    """Refuse what is no name of a time zone.

    Raises:
        django.core.exceptions.ValidationError: with the code invalid_choice.
    """
    if name not in list_time_zones():
        raise ValidationError(INVALID_TIME_ZONE, code="invalid_choice")


def get_today(company: "Company", now: datetime) -> date:
    """Return the day that ``now``, a time with its offset, falls on in the company's time zone.

    In a sandbox it is ``test_today`` where that is set.
    """
    if company.test_today is not None:
        return company.test_today
    return now.astimezone(ZoneInfo(company.time_zone)).date()

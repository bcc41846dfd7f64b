"""The audit log as people read it: who changed what, and when."""

import re
from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse

from companies.models import ApiKey, AuditEntry, User
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission

SHOWN = 5  # fields of a change that one line shows
LONGEST = 40  # characters of a value
TOLD_ELSEWHERE = {
    "id", "owner", "storage_path", "created_time", "created_user_id", "last_updated_time", "last_updated_user_id",
}  # fmt: skip
KEY_PREFIX = "apiKey:"


@company_page(reads=Permission.AUDIT_READ)
def log(visit: Visit) -> HttpResponse:
    """Changes, latest first."""
    rows, cursor = visit.page_of(AuditEntry.objects.of(visit.company.id), order=("-time", "-id"))
    actors = names(visit, {row.actor for row in rows if row.actor})
    entries = [
        {
            "row": row,
            "actor": actors.get(row.actor or "", "the service"),
            "act": in_words(row.action),
            "facts": facts(row),
        }
        for row in rows
    ]
    return visit.show("settings/activity.html", section="activity", entries=entries, cursor=cursor)


def names(visit: Visit, actors: Iterable[str]) -> dict[str, str]:
    """What to call those who acted, in two statements; somebody unknown now is called by their id.

    Keys and people other than the visitor are named to those who manage them, as the API lists them to nobody else.
    """
    keys = {actor for actor in actors if actor.startswith(KEY_PREFIX)}
    people = {actor for actor in actors if not actor.startswith(KEY_PREFIX)}
    found = {actor: actor for actor in actors}
    if visit.may(Permission.API_KEYS_MANAGE):
        rows = ApiKey.objects.of(visit.company.id).filter(id__in=[key.removeprefix(KEY_PREFIX) for key in keys])
        found |= {f"{KEY_PREFIX}{key.id}": f"key “{key.name}”" for key in rows}
    else:
        found |= dict.fromkeys(keys, "an API key")
    if not visit.may(Permission.MEMBERS_MANAGE):
        found |= dict.fromkeys(people, "somebody else")
        people &= {str(visit.stamp.user_id)}
    return found | {str(user.pk): user.display_name for user in User.objects.filter(pk__in=people)}


def in_words(action: str) -> str:
    """apiKey.allRevoked → API key all revoked"""
    text = re.sub(r"\bapi\b", "API", plain(action.replace(".", " ")))
    return text[:1].upper() + text[1:]


def facts(row: AuditEntry) -> list[tuple[str, str, str]]:
    """(field, before, after) of what a change touched, at most so many; ids say nothing to people."""
    before, after = row.before or {}, row.after or {}
    names = [name for name in {**before, **after} if name not in TOLD_ELSEWHERE and not name.endswith("_id")]
    changed = [name for name in names if before.get(name) != after.get(name)]
    return [(plain(name), short(before.get(name)), short(after.get(name))) for name in changed[:SHOWN]]


def short(value: Any) -> str:
    """A value that was kept as JSON, as people say it."""
    text = said(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def said(value: Any) -> str:
    """["a", "b"] → a, b; {"countryCode": "DE"} → country code DE; true → yes."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(said, value))
        case dict():
            return ", ".join(f"{plain(name)} {said(each)}" for name, each in value.items() if each is not None)
        case _:
            return str(value)


def plain(name: str) -> str:
    """lastOfMonth, last_of_month → last of month"""
    return re.sub(r"(?<=[a-z])([A-Z])", r" \1", name).replace("_", " ").lower()

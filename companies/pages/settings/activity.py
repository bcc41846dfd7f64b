"""The audit log as people read it: who changed what, and when; found by person, by kind of thing and by day."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.hooks import AUDIT_LABELS, AUDITED_MODELS
from companies.models import ApiKey, AuditEntry, Membership, User, id_from, latest_first
from companies.pages.settings.log_fields import code_word, field_word, plain
from companies.pages.settings.log_words import ACTS, COUNTS, KINDS, named, sentence
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission

A_PAGE = 36  # entries take several lines on a small screen
SHOWN = 5  # fields of a change that one line shows
LONGEST = 40  # characters of a value
TOLD_ELSEWHERE = {
    "id", "owner", "storage_path", "content_type", "file_extension",
    "created_time", "created_user_id", "last_updated_time", "last_updated_user_id",
}  # fmt: skip
KEY_PREFIX = "apiKey:"
TAKEN_BACK = "transactions.runTakenBack"
A_WORD = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+")  # transactionDate
SERVICE = "service"  # who the log has no name for
FIELDS = ("person", "kind", "from", "to", "thing")
AN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NO_DAY = gettext_lazy("Write a day such as 2026-03-31.")


@company_page(reads=Permission.AUDIT_READ)
def log(visit: Visit) -> HttpResponse:
    """Changes that match, latest first, each as a sentence."""
    form = Typed(values={name: visit.request.GET.get(name, "").replace("\0", "").strip() for name in FIELDS})
    near = latest_first(visit.stamp.time)
    rows, cursor = visit.page_of(found(visit, form), order=("-time", "-id"), limit=A_PAGE, near=near)
    people = names(visit, {row.actor for row in rows if row.actor})
    things = things_of(visit, rows)
    narrowed = visit.request.GET.copy()
    narrowed.pop("cursor", None)
    return visit.show(
        "settings/activity.html",
        status=400 if form.errors else 200,
        section="activity",
        entries=[entry_of(row, people, things, hides=hides(visit, row.entity_type)) for row in rows],
        cursor=cursor,
        form=form,
        narrowed=any(form.values.values()),
        query=narrowed.urlencode(),
        people=choices(visit),
        kinds=sorted(((value, str(label)) for value, label in KINDS.items()), key=lambda each: each[1]),
    )


def found(visit: Visit, form: Typed) -> Any:
    """The entries that the address asks for; what is wrong with it stands at the fields, and finds nothing."""
    rows, asked = AuditEntry.objects.of(visit.company.id), form.values
    if asked["person"]:
        rows = rows.filter(actor=None if asked["person"] == SERVICE else asked["person"])
    if asked["kind"]:
        rows = rows.filter(entity_type=asked["kind"])
    if asked["thing"]:
        rows = rows.filter(entity_id=asked["thing"])
    if first := day_of(form, "from"):
        rows = rows.filter(time__gte=midnight(first))
    if (last := day_of(form, "to")) and last < date.max:
        rows = rows.filter(time__lt=midnight(last) + timedelta(days=1))
    return rows.none() if form.errors else rows


def day_of(form: Typed, name: str) -> date | None:
    text = form.values[name]
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        form.errors[name] = str(NO_DAY)
        return None


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def choices(visit: Visit) -> list[tuple[str, str]]:
    """Whom the log can be asked about: the members and the keys, as far as the visitor may know them."""
    own = visit.stamp.user_id
    found = {str(own): _("Me")}
    if visit.may(Permission.MEMBERS_MANAGE):
        rows = Membership.objects.of(visit.company.id).active().with_people()
        found |= {str(row.user_id): row.called for row in rows if row.is_known and row.user_id != own}
    if visit.may(Permission.API_KEYS_MANAGE):
        keys = ApiKey.objects.of(visit.company.id).order_by("name")
        found |= {f"{KEY_PREFIX}{key.id}": called(key) for key in keys}
    return [*found.items(), (SERVICE, _("The service itself"))]


def called(key: ApiKey) -> str:
    return _("key “{name}”").format(name=key.name)


def hides(visit: Visit, kind: str) -> bool:
    """Whether the visitor may not see things of this kind, nor how one that is gone was called."""
    audited = AUDITED_MODELS.get(kind)
    return audited is not None and not visit.may(audited.permission)


def entry_of(
    row: AuditEntry, people: dict[str, str], things: dict[tuple[str, str], str], *, hides: bool = False
) -> dict[str, Any]:
    """One line: who, what they did, and what changed by it."""
    before, after = row.before or {}, row.after or {}
    name = things.get((row.entity_type, row.entity_id)) or ("" if hides else named(before, after))
    return {
        "row": row,
        "actor": people.get(row.actor or "", _("the service")),
        "did": sentence(row.action, name=name, before=before, after=after),
        "facts": [fact for fact in facts(row) if fact[1:] != ("", name)],  # it is called so in the sentence
        "new": not before,
    }


def things_of(visit: Visit, rows: Iterable[AuditEntry]) -> dict[tuple[str, str], str]:
    """What the things are called that are there still, by type and id; one statement a type, of those that the visitor
    may see."""
    wanted: dict[str, set[str]] = {}
    for row in rows:
        audited = AUDITED_MODELS.get(row.entity_type)
        if audited and visit.may(audited.permission) and id_from(row.entity_id):
            wanted.setdefault(row.entity_type, set()).add(row.entity_id)
    found = {}
    for kind, ids in wanted.items():
        model: Any = AUDITED_MODELS[kind].model
        there = model.objects.of(visit.company.id).filter(id__in=ids)
        for thing in there.with_people() if kind == "member" else there:
            found[kind, str(thing.id)] = getattr(thing, "called", None) or str(thing)
    return found


def names(visit: Visit, actors: Iterable[str]) -> dict[str, str]:
    """What to call those who acted, in two statements; somebody unknown now is called by their id.

    Keys and people other than the visitor are named to those who manage them, as the API lists them to nobody else.
    """
    keys = {actor for actor in actors if actor.startswith(KEY_PREFIX)}
    people = {actor for actor in actors if not actor.startswith(KEY_PREFIX)}
    found = dict.fromkeys(keys, _("a key that is gone")) | dict.fromkeys(people, _("somebody who is gone"))
    if visit.may(Permission.API_KEYS_MANAGE):
        rows = ApiKey.objects.of(visit.company.id).filter(id__in=[key.removeprefix(KEY_PREFIX) for key in keys])
        found |= {f"{KEY_PREFIX}{key.id}": called(key) for key in rows}
    else:
        found |= dict.fromkeys(keys, _("an API key"))
    if not visit.may(Permission.MEMBERS_MANAGE):
        found |= dict.fromkeys(people, _("somebody else"))
        people &= {str(visit.stamp.user_id)}
    return found | {str(user.pk): user.display_name for user in User.objects.filter(pk__in=people)}


def facts(row: AuditEntry) -> list[tuple[str, str, str]]:
    """(field, before, after) of what a change touched, at most so many; ids say nothing to people."""
    before, after = row.before or {}, row.after or {}
    names = [name for name in {**before, **after} if name not in TOLD_ELSEWHERE and not is_id(name)]
    told = [
        (field_word(name), short(worded(name, before.get(name))), short(worded(name, after.get(name))))
        for name in names
        if before.get(name) != after.get(name) and not said_already(name, row)
    ]
    return [each for each in told if each[1] != each[2]][:SHOWN]


def said_already(name: str, row: AuditEntry) -> bool:
    """Whether the sentence tells the field, or there is nothing to tell."""
    if row.action == TAKEN_BACK and (name == "act" or not (row.after or {}).get(name)):
        return True
    alone = {**(row.before or {}), **(row.after or {})}.keys() == {"order"}
    return (name in COUNTS and row.action in ACTS) or alone


def worded(name: str, value: Any) -> Any:
    """A code in the words that the pages of its kind have for it: cac → Sales and marketing."""
    if name not in AUDIT_LABELS:
        return code_word(name, value)
    words = {str(code): str(word) for code, word in AUDIT_LABELS[name].items()}
    if isinstance(value, list):
        return [words.get(each, each) for each in value]
    return words.get(value, value)


def is_id(name: str) -> bool:
    """Whether a field holds an id, or is one: the parts of a transaction stand in the log by theirs."""
    return name.endswith("_id") or bool(AN_ID.fullmatch(name))


def short(value: Any) -> str:
    """A value that was kept as JSON, as people say it."""
    text = said(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def said(value: Any) -> str:
    """["a", "b"] → a, b; {"countryCode": "DE"} → country code DE; true → yes; transactionDate → transaction date; of
    ids their number."""
    match value:
        case None:
            return ""
        case bool():
            return _("yes") if value else _("no")
        case list() if value and all(isinstance(each, str) and AN_ID.fullmatch(each) for each in value):
            return str(len(value))
        case list():
            return ", ".join(map(said, value))
        case dict():
            told = {name: said(code_word(name, each)) for name, each in value.items() if not is_id(name)}
            return ", ".join(f"{field_word(name)} {text}" for name, text in told.items() if text)
        case str() if AN_ID.fullmatch(value):
            return ""
        case str() if A_WORD.fullmatch(value):
            return plain(value)
        case _:
            return str(value)

"""What a notification says, made from its type and its payload: stored in English, shown in the reader's language."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.locales import current
from companies.pages.amounts import money, number
from companies.pages.settings.roles import role_word
from notifications.models import Notification, NotificationType

Facts = Mapping[str, Any]
"""The payload's keys by type; as they were given, or as JSON keeps them."""


def said(kind: str, facts: Facts) -> tuple[str, str]:
    """(title, body). Raises KeyError where a fact is missing."""
    return SAID[kind](facts)


def shown(row: Notification) -> tuple[str, str]:
    """The same of a stored one; as it was told then, where it was stored without what its words are made of now."""
    try:
        return said(row.type, row.payload)
    except KeyError:
        return row.payload["title"], row.payload["body"]


# ---------------------------------------------------------------------------------------------- people, keys and apps


def member_joined(facts: Facts) -> tuple[str, str]:
    body = _("{email} is a member of the company now, as {role}.")
    title = _("{name} joined").format(name=facts["name"])
    return title, body.format(email=facts["email"], role=role_word(facts["role"]))


def api_key_created(facts: Facts) -> tuple[str, str]:
    body = _("The key ending in {digits} can be used from now on. Revoke it if you did not expect it.")
    return _("API key “{name}” created").format(name=facts["name"]), body.format(digits=facts["lastFour"])


def api_key_creator_left(facts: Facts) -> tuple[str, str]:
    body = _("{email} is no longer a member, but the key ending in {digits} still works.")
    title = _("The creator of API key “{name}” left").format(name=facts["name"])
    return title, body.format(email=facts["email"], digits=facts["lastFour"])


def app_connected(facts: Facts) -> tuple[str, str]:
    name = facts["applicationName"]
    body = _("{email} allowed {name} to reach the company's data.").format(email=facts["email"], name=name)
    return _("{name} connected").format(name=name), body


def app_revoked(facts: Facts) -> tuple[str, str]:
    name = facts["applicationName"]
    body = _("{name} can no longer reach the company's data on behalf of {email}.")
    return _("{name} disconnected").format(name=name), body.format(email=facts["email"], name=name)


def webhook_disabled(facts: Facts) -> tuple[str, str]:
    since, status = datetime.fromisoformat(str(facts["failingSince"])), facts["lastStatus"]
    body = (
        _("{url} answered {status}, and has taken no event since {day}, {time} UTC.")
        if status
        else _("{url} did not answer, and has taken no event since {day}, {time} UTC.")
    ).format(url=facts["url"], status=status, day=current().long(since), time=f"{since:%H:%M}")
    return _("A webhook was disabled"), f"{body} {_('Once it is enabled again, all events since then are sent.')}"


# ---------------------------------------------------------------------------------------------- money


def import_finished(facts: Facts) -> tuple[str, str]:
    """Nothing is said of what there was none of."""
    count, known, old = (facts[name] for name in ("count", "duplicates", "skippedBeforeDataStart"))
    parts = [ngettext("{n} transaction was stored.", "{n} transactions were stored.", count).format(n=number(count))]
    if known:
        parts.append(ngettext("{n} was there already.", "{n} were there already.", known).format(n=number(known)))
    if old:
        told = ngettext("{n} is dated before the books start.", "{n} are dated before the books start.", old)
        parts.append(told.format(n=number(old)))
    title = ngettext("{n} transaction imported", "{n} transactions imported", count).format(n=number(count))
    return title, " ".join(parts)


def import_undone(facts: Facts) -> tuple[str, str]:
    count, changed = facts["deletedCount"], facts["changedCount"]
    body = ngettext("{n} transaction was removed.", "{n} transactions were removed.", count).format(n=number(count))
    if changed:
        since = ngettext("{n} of them had been changed since.", "{n} of them had been changed since.", changed)
        body += f" {since.format(n=number(changed))}"
    return _("Import undone"), body


def balance_mismatch(facts: Facts) -> tuple[str, str]:
    reported, calculated = (money(facts[name], facts["currency"]) for name in ("reported", "calculated"))
    body = _("The bank reports {reported}, the transactions add up to {calculated}.")
    day = ""
    if "date" in facts:  # older ones did not tell it
        body = _("On {day} the bank reports {reported}, the transactions add up to {calculated}.")
        day = current().day_of(date.fromisoformat(str(facts["date"])))
    title = _("The balance of {account} differs").format(account=facts["accountName"])
    return title, body.format(day=day, reported=reported, calculated=calculated)


def cash_below_zero(facts: Facts) -> tuple[str, str]:
    day, amount = date.fromisoformat(str(facts["date"])), money(facts["amount"], facts["currency"])
    body = _("By the plan, cash is {amount} on {day}.").format(amount=amount, day=current().day_of(day))
    return _("Cash is forecast to fall below zero"), body


SAID: dict[str, Callable[[Facts], tuple[str, str]]] = {
    NotificationType.IMPORT_FINISHED: import_finished,
    NotificationType.IMPORT_UNDONE: import_undone,
    NotificationType.APP_CONNECTED: app_connected,
    NotificationType.APP_REVOKED: app_revoked,
    NotificationType.API_KEY_CREATED: api_key_created,
    NotificationType.API_KEY_CREATOR_LEFT: api_key_creator_left,
    NotificationType.BALANCE_MISMATCH: balance_mismatch,
    NotificationType.CASH_BELOW_ZERO: cash_below_zero,
    NotificationType.MEMBER_JOINED: member_joined,
    NotificationType.WEBHOOK_DISABLED: webhook_disabled,
}

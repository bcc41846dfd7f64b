"""Texts of notifications, made from type and payload: stored in English, shown in the reader's language."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.locales import get_current_locale
from companies.pages.amount_formats import format_count, format_money
from companies.pages.settings.role_labels import get_role_label
from notifications.models import Notification, NotificationType

MessageFacts = Mapping[str, Any]
"""The payload's keys by type; as they were given, or as JSON keeps them."""


def render_message(kind: str, facts: MessageFacts) -> tuple[str, str]:
    """Return (title, body).

    Raises:
        KeyError: the payload lacks a value.
    """
    return MESSAGE_BUILDERS[kind](facts)


def render_stored_message(row: Notification) -> tuple[str, str]:
    """Return (title, body) of a stored notification; the stored texts if its payload lacks a value."""
    try:
        return render_message(row.type, row.payload)
    except KeyError:
        return row.payload["title"], row.payload["body"]


# ---------------------------------------------------------------------------------------------- people, keys and apps


def describe_member_joined(facts: MessageFacts) -> tuple[str, str]:
    body = _("{email} is a member of the company now, as {role}.")
    title = _("{name} joined").format(name=facts["name"])
    return title, body.format(email=facts["email"], role=get_role_label(facts["role"]))


def describe_api_key_created(facts: MessageFacts) -> tuple[str, str]:
    body = _("The key ending in {digits} can be used from now on. Revoke it if you did not expect it.")
    return _("API key “{name}” created").format(name=facts["name"]), body.format(digits=facts["lastFour"])


def describe_api_key_creator_left(facts: MessageFacts) -> tuple[str, str]:
    body = _("{email} is no longer a member, but the key ending in {digits} still works.")
    title = _("The creator of API key “{name}” left").format(name=facts["name"])
    return title, body.format(email=facts["email"], digits=facts["lastFour"])


def describe_app_connected(facts: MessageFacts) -> tuple[str, str]:
    name = facts["applicationName"]
    body = _("{email} allowed {name} to reach the company's data.").format(email=facts["email"], name=name)
    return _("{name} connected").format(name=name), body


def describe_app_revoked(facts: MessageFacts) -> tuple[str, str]:
    name = facts["applicationName"]
    body = _("{name} can no longer reach the company's data on behalf of {email}.")
    return _("{name} disconnected").format(name=name), body.format(email=facts["email"], name=name)


def describe_webhook_disabled(facts: MessageFacts) -> tuple[str, str]:
    since, status = datetime.fromisoformat(str(facts["failingSince"])), facts["lastStatus"]
    body = (
        _("{url} answered {status}, and has taken no event since {day}, {time} UTC.")
        if status
        else _("{url} did not answer, and has taken no event since {day}, {time} UTC.")
    ).format(url=facts["url"], status=status, day=get_current_locale().format_long_day(since), time=f"{since:%H:%M}")
    return _("A webhook was disabled"), f"{body} {_('Once it is enabled again, all events since then are sent.')}"


# ---------------------------------------------------------------------------------------------- money


def describe_import(facts: MessageFacts) -> tuple[str, str]:
    """Describe an import; counts of zero are left out."""
    count, duplicate_count, skipped_count = (facts[name] for name in ("count", "duplicates", "skippedBeforeDataStart"))
    parts = [
        ngettext("{n} transaction was stored.", "{n} transactions were stored.", count).format(n=format_count(count))
    ]
    if duplicate_count:
        parts.append(
            ngettext("{n} was there already.", "{n} were there already.", duplicate_count).format(
                n=format_count(duplicate_count)
            )
        )
    if skipped_count:
        skipped_text = ngettext(
            "{n} is dated before the books start.", "{n} are dated before the books start.", skipped_count
        )
        parts.append(skipped_text.format(n=format_count(skipped_count)))
    title = ngettext("{n} transaction imported", "{n} transactions imported", count).format(n=format_count(count))
    return title, " ".join(parts)


def describe_undone_import(facts: MessageFacts) -> tuple[str, str]:
    count, changed = facts["deletedCount"], facts["changedCount"]
    body = ngettext("{n} transaction was removed.", "{n} transactions were removed.", count).format(
        n=format_count(count)
    )
    if changed:
        changed_text = ngettext("{n} of them had been changed since.", "{n} of them had been changed since.", changed)
        body += f" {changed_text.format(n=format_count(changed))}"
    return _("Import undone"), body


def describe_balance_mismatch(facts: MessageFacts) -> tuple[str, str]:
    reported, calculated = (format_money(facts[name], facts["currency"]) for name in ("reported", "calculated"))
    body = _("The bank reports {reported}, the transactions add up to {calculated}.")
    day = ""
    if "date" in facts:  # older payloads lack it
        body = _("On {day} the bank reports {reported}, the transactions add up to {calculated}.")
        day = get_current_locale().format_day(date.fromisoformat(str(facts["date"])))
    title = _("The balance of {account} differs").format(account=facts["accountName"])
    return title, body.format(day=day, reported=reported, calculated=calculated)


def describe_low_cash(facts: MessageFacts) -> tuple[str, str]:
    day, amount = date.fromisoformat(str(facts["date"])), format_money(facts["amount"], facts["currency"])
    body = _("By the plan, cash is {amount} on {day}.").format(amount=amount, day=get_current_locale().format_day(day))
    return _("Cash is forecast to fall below zero"), body


MESSAGE_BUILDERS: dict[str, Callable[[MessageFacts], tuple[str, str]]] = {
    NotificationType.IMPORT_FINISHED: describe_import,
    NotificationType.IMPORT_UNDONE: describe_undone_import,
    NotificationType.APP_CONNECTED: describe_app_connected,
    NotificationType.APP_REVOKED: describe_app_revoked,
    NotificationType.API_KEY_CREATED: describe_api_key_created,
    NotificationType.API_KEY_CREATOR_LEFT: describe_api_key_creator_left,
    NotificationType.BALANCE_MISMATCH: describe_balance_mismatch,
    NotificationType.CASH_BELOW_ZERO: describe_low_cash,
    NotificationType.MEMBER_JOINED: describe_member_joined,
    NotificationType.WEBHOOK_DISABLED: describe_webhook_disabled,
}

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
    body = _("{email} joined the company as {role}.")
    title = _("{name} joined").format(name=facts["name"])
    return title, body.format(email=facts["email"], role=get_role_label(facts["role"]))


def describe_api_key_created(facts: MessageFacts) -> tuple[str, str]:
    body = _("API key …{digits} is now active. Revoke it if you did not expect it.")
    return _("API key “{name}” created").format(name=facts["name"]), body.format(digits=facts["lastFour"])


def describe_api_key_creator_left(facts: MessageFacts) -> tuple[str, str]:
    body = _("{email} was removed, but API key …{digits} they created is still active. Revoke it if it is not needed.")
    title = _("API key “{name}” of a removed member").format(name=facts["name"])
    return title, body.format(email=facts["email"], digits=facts["lastFour"])


def describe_app_connected(facts: MessageFacts) -> tuple[str, str]:
    name = facts["applicationName"]
    body = _("{email} gave {name} access to the company's data.").format(email=facts["email"], name=name)
    return _("{name} connected").format(name=name), body


def describe_app_revoked(facts: MessageFacts) -> tuple[str, str]:
    name = facts["applicationName"]
    body = _("{name} no longer has access to the company's data through {email}.")
    return _("{name} disconnected").format(name=name), body.format(email=facts["email"], name=name)


def describe_webhook_disabled(facts: MessageFacts) -> tuple[str, str]:
    since, status = datetime.fromisoformat(str(facts["failingSince"])), facts["lastStatus"]
    body = (
        _("{url} returned {status} and has not accepted an event since {day}, {time} UTC.")
        if status
        else _("{url} did not respond and has not accepted an event since {day}, {time} UTC.")
    ).format(url=facts["url"], status=status, day=get_current_locale().format_long_day(since), time=f"{since:%H:%M}")
    return _("Webhook disabled"), " ".join([body, _("Enable it to send missed events.")])


def describe_expiring_sandbox(facts: MessageFacts) -> tuple[str, str]:
    day = get_current_locale().format_long_day(datetime.fromisoformat(str(facts["expireTime"])))
    title = _("{name} will be deleted on {day}").format(name=facts["name"], day=day)
    return title, _("This sandbox and everything in it will be deleted. The original company stays.")


# ---------------------------------------------------------------------------------------------- money


def describe_import(facts: MessageFacts) -> tuple[str, str]:
    """Describe an import; counts of zero are left out."""
    count, duplicate_count, skipped_count = (facts[name] for name in ("count", "duplicates", "skippedBeforeDataStart"))
    parts = [ngettext("{n} transaction saved.", "{n} transactions saved.", count).format(n=format_count(count))]
    if duplicate_count:
        parts.append(
            ngettext("{n} duplicate skipped.", "{n} duplicates skipped.", duplicate_count).format(
                n=format_count(duplicate_count)
            )
        )
    if skipped_count:
        skipped_text = ngettext(
            "{n} is before the data start date.", "{n} are before the data start date.", skipped_count
        )
        parts.append(skipped_text.format(n=format_count(skipped_count)))
    if closed_count := facts.get("skippedClosed"):
        closed_text = ngettext("{n} in a closed month left out.", "{n} in closed months left out.", closed_count)
        parts.append(closed_text.format(n=format_count(closed_count)))
    if filename := facts.get("filename"):
        parts.append(_("File: {filename}").format(filename=filename))
    title = ngettext("{n} transaction imported", "{n} transactions imported", count).format(n=format_count(count))
    return title, " ".join(parts)


def describe_undone_import(facts: MessageFacts) -> tuple[str, str]:
    count, changed = facts["deletedCount"], facts["changedCount"]
    body = ngettext("{n} transaction deleted.", "{n} transactions deleted.", count).format(n=format_count(count))
    if changed:
        changed_text = ngettext(
            "{n} had been changed since the import.", "{n} had been changed since the import.", changed
        )
        body += f" {changed_text.format(n=format_count(changed))}"
    return _("Import undone"), body


def describe_balance_mismatch(facts: MessageFacts) -> tuple[str, str]:
    reported, calculated = (format_money(facts[name], facts["currency"]) for name in ("reported", "calculated"))
    body = _("Statement {reported}, ledger {calculated}.")
    day = ""
    if "date" in facts:  # older payloads lack it
        body = _("On {day}: statement {reported}, ledger {calculated}.")
        day = get_current_locale().format_day(date.fromisoformat(str(facts["date"])))
    title = _("{account} is out of balance").format(account=facts["accountName"])
    return title, body.format(day=day, reported=reported, calculated=calculated)


def describe_low_cash(facts: MessageFacts) -> tuple[str, str]:
    day, amount = date.fromisoformat(str(facts["date"])), format_money(facts["amount"], facts["currency"])
    body = _("Forecast cash on {day}: {amount}.").format(amount=amount, day=get_current_locale().format_day(day))
    return _("Cash is forecast to fall below zero"), body


def describe_reopened_months(facts: MessageFacts) -> tuple[str, str]:
    first, last = (
        get_current_locale().format_month(date.fromisoformat(f"{facts[name]}-01"), full=True)
        for name in ("month", "lastMonth")
    )
    months = first if first == last else _("{first} to {last}").format(first=first, last=last)
    title = _("{months} reopened").format(months=months)
    return title, _("Figures of these months can change again. Reason: {reason}").format(reason=facts["reason"])


MESSAGE_BUILDERS: dict[str, Callable[[MessageFacts], tuple[str, str]]] = {
    NotificationType.IMPORT_FINISHED: describe_import,
    NotificationType.IMPORT_UNDONE: describe_undone_import,
    NotificationType.APP_CONNECTED: describe_app_connected,
    NotificationType.APP_REVOKED: describe_app_revoked,
    NotificationType.API_KEY_CREATED: describe_api_key_created,
    NotificationType.API_KEY_CREATOR_LEFT: describe_api_key_creator_left,
    NotificationType.BALANCE_MISMATCH: describe_balance_mismatch,
    NotificationType.CASH_BELOW_ZERO: describe_low_cash,
    NotificationType.CLOSING_REOPENED: describe_reopened_months,
    NotificationType.MEMBER_JOINED: describe_member_joined,
    NotificationType.SANDBOX_EXPIRING: describe_expiring_sandbox,
    NotificationType.WEBHOOK_DISABLED: describe_webhook_disabled,
}

"""What others did to transactions while a page about them stood open: told by name, so that nobody decides over it."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.locales import current
from companies.pages.amounts import money, number
from companies.pages.settings.activity import names
from companies.pages.unchanged import ChangedMeanwhile
from companies.pages.visits import Visit
from companies.versions import version_of
from ledger.models import Categorization, Transaction
from ledger.transactions.pages.form import values_of
from ledger.transactions.pages.history import FIELDS
from ledger.transactions.pages.words import listed, names_for

MOST_PARTS = 4


def unless_changed(visit: Visit, rows: Any) -> None:
    """Raises ChangedMeanwhile where one of the transactions is not as the form's page showed it.

    The form sends back a ``version`` of each row that it shows; one that sends none has shown none. Call it where
    nobody else can change them any more.
    """
    versions = frozenset(visit.request.POST.getlist("version"))
    if versions and (changed := overtaken(rows, versions)):
        raise ChangedMeanwhile(what_became_of(visit, changed))


def overtaken(rows: Any, versions: Collection[str]) -> list[Transaction]:
    shown = rows.only("id", "last_updated_time", "last_updated_user_id", "from_to", "description", "amount_currency")
    return [row for row in shown if version_of(row) not in versions]


def what_became_of(visit: Visit, rows: list[Transaction]) -> str:
    """Anna has categorized “Nimbus” meanwhile: Hosting −€100.00. Nothing was overwritten. Look at it again."""
    if len(rows) == 1:
        return " ".join((done_to(visit, rows[0]), _("Nothing was overwritten: look at it, then decide again.")))
    said = ngettext(
        "{n} of the transactions has changed meanwhile.", "{n} of the transactions have changed meanwhile.", len(rows)
    )
    told = _("Nothing was overwritten: look at them, then decide again.")
    return " ".join((said.format(n=number(len(rows))), told))


def done_to(visit: Visit, row: Transaction) -> str:
    """Who changed a transaction last, and what it is for since."""
    actor = row.last_updated_user_id or ""
    who = names(visit, {actor} - {""}).get(actor, _("the service"))
    parts = parts_in_words(visit, row.id, row.amount_currency)
    if parts:
        said = _("{who} has categorized “{title}” meanwhile: {parts}.")
    else:
        said = _("{who} has changed “{title}” meanwhile.")
    title = row.from_to or row.description or _("No text")
    return capfirst(said.format(who=who, title=title[:80], parts=parts))


def there_now(visit: Visit, row: Transaction, typed: Mapping[str, Any]) -> str:
    """What its form would have overwritten: the fields that are not as they were typed."""
    stored = values_of(row)
    shown = {
        "date": current().day_of(row.date),
        "amountValue": money(row.amount_value, row.amount_currency),
        "accountId": names_for(visit).account(row.account_id),
        "fromTo": row.from_to,
        "description": row.description,
        "notes": row.notes or "",
    }
    labels = {"amountValue": "amount_value", "accountId": "account_id", "fromTo": "from_to"}
    told = [
        f"{FIELDS[labels.get(name, name)]} {text or _('none')}"
        for name, text in shown.items()
        if stored[name] != typed.get(name)
    ]
    return _("There now: {fields}.").format(fields=listed(told)) if told else ""


def parts_in_words(visit: Visit, transaction_id: UUID, currency: str) -> str:
    """Hosting −€60.00 and Office −€40.00"""
    parts = Categorization.objects.of(visit.company.id).filter(transaction_id=transaction_id)
    found = list(parts.order_by("position", "id").values_list("category_id", "value"))
    if not found:
        return ""
    words = names_for(visit)
    told = [f"{words.category(category_id)} {money(value, currency)}" for category_id, value in found[:MOST_PARTS]]
    if len(found) > MOST_PARTS:
        told.append(_("{n} more").format(n=number(len(found) - MOST_PARTS)))
    return listed(told)

"""What was expected and seems to have come, for the inbox of a company; and what was just settled there."""

from collections.abc import Iterator
from itertools import islice

from django.urls import reverse
from django.utils.translation import gettext as _

from companies.models import id_from
from companies.pages.amounts import money
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.models import Transaction
from ledger.rules.pages.inbox import Offer, Undo
from ledger.transactions.pages.words import Names, names_for
from planning.pages.occurrences import told
from planning.pages.outlook import Coming, list_matched
from planning.serializers import as_date

MOST_OFFERED = 20


def in_the_inbox(visit: Visit) -> list[Offer]:
    """The occurrences that a transaction fits, by date, for somebody who may settle them."""
    if not (visit.may(Permission.TRANSACTIONS_READ) and visit.may(Permission.PLANNING_WRITE)):
        return []
    return list(islice(offers(visit), MOST_OFFERED))


def undo(visit: Visit) -> Undo | None:
    """The occurrence that the inbox's address says was just settled, to be expected again."""
    planned_id, _dot, day = visit.request.GET.get("settled", "").partition(".")
    if not (id_from(planned_id) and as_date(day) and visit.may(Permission.PLANNING_WRITE)):
        return None
    return Undo(reverse("occurrence-unsettle", args=[visit.company.id, planned_id, day]), {"from": "inbox"})


def offers(visit: Visit) -> Iterator[Offer]:
    names = names_for(visit)
    for each in list_matched(visit):
        if each.match:
            yield offer(visit, each, each.match, names)


def offer(visit: Visit, each: Coming, came: Transaction, names: Names) -> Offer:
    expected = each.expected
    who = (came.from_to or came.description or _("A transaction"))[:60]
    awaited = _("expected {day}, {amount}").format(
        day=told(expected.date), amount=money(each.amount, expected.amount_currency)
    )
    return Offer(
        what=expected.name,
        detail=f"{told(came.date)} {who} · {names.account(came.account_id)} · {awaited}",
        amount=came.amount_value,
        currency=came.amount_currency,
        address=reverse("occurrence-settle", args=[visit.company.id, each.planned.id, expected.original_date]),
        fields={"transactionId": str(came.id), "from": "inbox"},
        button=_("Settle"),
        label=_("Settle {name} of {day} with {who} of {booked}").format(
            name=expected.name, day=told(expected.date), who=who, booked=told(came.date)
        ),
        refusal={"id": str(came.id), "other": str(each.planned.id), "day": expected.original_date.isoformat()},
    )

"""Matches of open occurrences in the inbox, and the undo link after settling one."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import islice

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.models import parse_id
from companies.pages.amount_formats import format_count, format_money
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.inbox.pages.inbox import InboxOffer, UndoForm
from ledger.models import Transaction
from ledger.transactions.pages.labels import LedgerNames, load_visible_names
from planning.planned_transactions.actions.transaction_settlements import RequestedSettlement
from planning.planned_transactions.pages.occurrences import format_local_day
from planning.planned_transactions.pages.outlook import UpcomingOccurrence, list_matched_occurrences
from planning.planned_transactions.pages.sums import format_settlements
from planning.planned_transactions.serializers import parse_date_or_none

MAX_OFFERS = 20
EVIDENCE_LABELS = {  # of what is more than a near date
    "number": gettext_lazy("invoice number in the text"),
    "reference": gettext_lazy("reference in the text"),
    "amount": gettext_lazy("same amount"),
    "sum": gettext_lazy("sum of the invoices"),
    "counterparty": gettext_lazy("same counterparty"),
}


def list_inbox_offers(page: CompanyPage) -> list[InboxOffer]:
    """List the occurrences that a transaction matches, by date; empty without the permission to settle."""
    if not (page.has_permission(Permission.TRANSACTIONS_READ) and page.has_permission(Permission.PLANNING_WRITE)):
        return []
    return list(islice(iter_settlement_offers(page), MAX_OFFERS))


def get_settlement_undo(page: CompanyPage) -> UndoForm | None:
    """Return the undo action of the occurrence that was just settled in the inbox; None without one."""
    planned_id, dot, day = page.request.GET.get("settled", "").partition(".")
    if not dot and (transaction_id := parse_id(planned_id)) and page.has_permission(Permission.PLANNING_WRITE):
        return UndoForm(reverse("transaction-unsettle", args=[page.company.id, transaction_id]), {"from": "inbox"})
    if not (parse_id(planned_id) and parse_date_or_none(day) and page.has_permission(Permission.PLANNING_WRITE)):
        return None
    return UndoForm(reverse("occurrence-unsettle", args=[page.company.id, planned_id, day]), {"from": "inbox"})


def iter_settlement_offers(page: CompanyPage) -> Iterator[InboxOffer]:
    """Yield an offer for each open occurrence that a transaction matches."""
    names = load_visible_names(page)
    for upcoming in list_matched_occurrences(page):
        if upcoming.match:
            build = build_sum_offer if upcoming.paid_together else build_settlement_offer
            yield build(page, upcoming, upcoming.match, names)


def build_settlement_offer(
    page: CompanyPage, upcoming: UpcomingOccurrence, transaction: Transaction, names: LedgerNames
) -> InboxOffer:
    """Build the inbox offer to settle an occurrence with a transaction."""
    expected = upcoming.expected
    counterparty_name = get_payer_name(transaction)
    expected_text = _("expected {day}, {amount}").format(
        day=format_local_day(expected.date), amount=format_money(upcoming.amount, expected.amount_currency)
    )
    return InboxOffer(
        description=expected.name,
        detail=f"{format_local_day(transaction.date)} {counterparty_name} · "
        f"{names.get_account_name(transaction.account_id)} · {expected_text}"
        f"{describe_part_payment(upcoming, transaction)}{describe_evidence(upcoming)}",
        amount=transaction.amount_value,
        currency=transaction.amount_currency,
        address=reverse("occurrence-settle", args=[page.company.id, upcoming.planned.id, expected.original_date]),
        fields={"transactionId": str(transaction.id), "from": "inbox"},
        button=_("Settle"),
        label=_("Settle {name} on {day} with {who} on {booked}").format(
            name=expected.name,
            day=format_local_day(expected.date),
            who=counterparty_name,
            booked=format_local_day(transaction.date),
        ),
        refusal={
            "id": str(transaction.id),
            "other": str(upcoming.planned.id),
            "day": expected.original_date.isoformat(),
        },
    )


def get_payer_name(transaction: Transaction) -> str:
    """Return the bank's name of the other party of a transaction, or its text."""
    return (transaction.from_to or transaction.description or _("Transaction"))[:60]


def describe_part_payment(upcoming: UpcomingOccurrence, transaction: Transaction) -> str:
    """Return how much a transaction pays of what is open, to be put behind other facts; empty where it pays all."""
    expected = upcoming.expected
    is_part = abs(transaction.amount_value) < abs(upcoming.amount_to_come)
    if transaction.amount_currency != expected.amount_currency or not is_part:
        return ""
    amount, total = (
        format_money(value, expected.amount_currency) for value in (transaction.amount_value, upcoming.amount_to_come)
    )
    return " · " + _("pays {amount} of {total}").format(amount=amount, total=total)


def describe_evidence(upcoming: UpcomingOccurrence) -> str:
    """Return the evidence of a match, to be put behind other facts; empty without any."""
    labels = [str(EVIDENCE_LABELS[name]) for name in upcoming.evidence if name in EVIDENCE_LABELS]
    return f" · {', '.join(labels)}" if labels else ""


def build_sum_offer(
    page: CompanyPage, upcoming: UpcomingOccurrence, transaction: Transaction, names: LedgerNames
) -> InboxOffer:
    """Build the inbox offer to settle several invoices with a transaction."""
    parts = [each.expected for each in upcoming.paid_together]
    invoices = [f"{each.name} {format_money(Decimal(each.open_amount_value), each.amount_currency)}" for each in parts]
    settlements = [
        RequestedSettlement(
            invoice.planned.id, invoice.expected.original_date, Decimal(invoice.expected.open_amount_value)
        )
        for invoice in upcoming.paid_together
    ]
    what = _("{count} invoices: {names}").format(
        count=format_count(len(parts)), names=", ".join(each.name for each in parts)
    )
    return InboxOffer(
        description=what,
        detail=f"{format_local_day(transaction.date)} {get_payer_name(transaction)} · "
        f"{names.get_account_name(transaction.account_id)} · {' + '.join(invoices)}{describe_evidence(upcoming)}",
        amount=transaction.amount_value,
        currency=transaction.amount_currency,
        address=reverse("transaction-settle-sum", args=[page.company.id, transaction.id]),
        fields={"settlements": format_settlements(settlements)},
        button=_("Settle all"),
        label=_("Settle {names} with {who} on {booked}").format(
            names=", ".join(each.name for each in parts),
            who=get_payer_name(transaction),
            booked=format_local_day(transaction.date),
        ),
        refusal={
            "id": str(transaction.id),
            "other": str(upcoming.planned.id),
            "day": upcoming.expected.original_date.isoformat(),
        },
    )

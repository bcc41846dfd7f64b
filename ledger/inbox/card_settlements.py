"""Settlements of credit cards: the card on which one can be booked, and the files of cards that are missing."""

import re
from collections.abc import Iterable
from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from companies.models import Company
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.models import Account, AccountType, Categorization, Transaction
from ledger.rules.calc.payment_kind_matcher import find_payment_kind
from ledger.rules.calc.payment_kinds import PaymentKind

MISSING_FILE_MONTHS = 3  # that are over, and looked through for files that are missing
LAST_DIGITS = re.compile(r"(?<!\d)(?!(?:19|20)\d\d(?!\d))\d{4}(?!\d)")  # of a card; no year


def find_settled_cards(company: Company, rows: Iterable[Transaction]) -> dict[UUID, Account]:
    """Return the card of each transaction to review that settles one whose rows of that day are not there yet.

    It is the card whose last digits the text has, or the only card of the company. At most one statement.
    """
    settlements = [row for row in rows if is_card_settlement(row)]
    if not settlements:
        return {}
    last_days = load_last_days(company)
    return {
        row.id: card
        for row in settlements
        if (card := choose_card(list(last_days), f"{row.from_to or ''} {row.description or ''}"))
        and card.default_currency == row.amount_currency
        and (last_days[card] or date.min) < row.date
    }


def load_last_days(company: Company) -> dict[Account, date | None]:
    """Return the day of the last transaction of each active credit card, in their order; None without any."""
    latest = Transaction.objects.for_company(company.id).filter(account=OuterRef("id")).order_by("-date")
    cards: Any = Account.objects.for_company(company.id).active().filter(type=AccountType.CREDIT_CARD)
    shown_cards = cards.annotate(last_day=Subquery(latest.values("date")[:1])).in_display_order()
    return {card: card.last_day for card in shown_cards}


def is_card_settlement(row: Transaction) -> bool:
    """Whether nothing of a payment is categorized, and its text says that it settles a credit card."""
    return row.amount_value < 0 and not row.categorized_value and states_settlement(row.from_to, row.description)


def states_settlement(from_to: str | None, description: str | None) -> bool:
    """Whether the texts of an outgoing payment say that it settles a credit card."""
    kind = find_payment_kind(from_to=from_to or "", description=description or "", is_incoming=False)
    return kind == PaymentKind.CARD_SETTLEMENT


def choose_card(cards: list[Account], text: str) -> Account | None:
    """Return the one card whose last digits a text has, or the only card if the text has no other card's."""
    stated_digits = set(LAST_DIGITS.findall(text))
    digits_by_card = {card: find_last_digits(card) for card in cards}
    named_cards = [card for card, digits in digits_by_card.items() if digits in stated_digits]
    if named_cards:
        return named_cards[0] if len(named_cards) == 1 else None
    is_other_card = stated_digits and any(digits_by_card.values())
    return cards[0] if len(cards) == 1 and not is_other_card else None


def find_last_digits(card: Account) -> str:
    """Return the last four digits of a card's number, else those in its name; empty where neither has any."""
    number = "".join(filter(str.isdigit, card.account_number or ""))[-4:]
    return number or next(iter(LAST_DIGITS.findall(card.name)), "")


def list_missing_card_files(company: Company, *, today: date) -> list[tuple[str, date]]:
    """Return the name of each credit card that lacks its file of a month, with the month.

    In this month a settlement of a card is Transfers without the other transaction, and the card has no transaction of
    that day or later. Cards that were not used for months are left out.
    """
    last_days = load_last_days(company)
    if not last_days:
        return []
    until = get_first_day_of_month(today)
    first = add_months(until, -MISSING_FILE_MONTHS)
    payments = Categorization.objects.for_company(company.id).unlinked_transfers()
    rows = payments.filter(
        value__lt=0, transaction__pending=False, transaction__date__gte=first, transaction__date__lt=until
    ).values_list("transaction__date", "transaction__from_to", "transaction__description")
    settlement_days = [day for day, from_to, description in rows if states_settlement(from_to, description)]
    oldest = add_months(first, -1)
    return [
        (card.name, month)
        for card, last_day in last_days.items()
        for month in sorted({get_first_day_of_month(day) for day in settlement_days if day > (last_day or date.min)})
        if last_day is None or last_day >= oldest
    ]

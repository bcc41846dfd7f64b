"""The card on which the settlement of a credit card can be booked before the card's file is imported."""

import re
from collections.abc import Iterable
from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from companies.models import Company
from ledger.models import Account, AccountType, Transaction
from ledger.rules.calc.payment_kind_matcher import find_payment_kind
from ledger.rules.calc.payment_kinds import PaymentKind

LAST_DIGITS = re.compile(r"(?<!\d)(?!(?:19|20)\d\d(?!\d))\d{4}(?!\d)")  # of a card; no year


def find_settled_cards(company: Company, rows: Iterable[Transaction]) -> dict[UUID, Account]:
    """Return the card of each transaction to review that settles one whose rows of that day are not there yet.

    It is the card whose last digits the text has, or the only card of the company. At most one statement.
    """
    settlements = [row for row in rows if is_card_settlement(row)]
    if not settlements:
        return {}
    latest = Transaction.objects.for_company(company.id).filter(account=OuterRef("id")).order_by("-date")
    cards: Any = Account.objects.for_company(company.id).active().filter(type=AccountType.CREDIT_CARD)
    last_days: dict[Account, date | None] = {
        card: card.last_day for card in cards.annotate(last_day=Subquery(latest.values("date")[:1]))
    }
    return {
        row.id: card
        for row in settlements
        if (card := choose_card(list(last_days), f"{row.from_to or ''} {row.description or ''}"))
        and card.default_currency == row.amount_currency
        and (last_days[card] or date.min) < row.date
    }


def is_card_settlement(row: Transaction) -> bool:
    """Whether nothing of a payment is categorized, and its text says that it settles a credit card."""
    kind = find_payment_kind(from_to=row.from_to or "", description=row.description or "", is_incoming=False)
    return row.amount_value < 0 and not row.categorized_value and kind == PaymentKind.CARD_SETTLEMENT


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

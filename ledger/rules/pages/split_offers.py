"""Offers to open the split form with values: the parts or the period that a text states, or an earlier split."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from babel.numbers import get_currency_precision
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.closed_periods import is_day_closed
from companies.locales import get_current_locale
from companies.models import Company
from companies.pages.amount_formats import format_money, format_percent_for_input
from ledger.calc.recognition import DateRule
from ledger.calc.stated_period import StatedPeriod, find_stated_period
from ledger.models import PlType, Transaction
from ledger.money.calc.money import format_amount
from ledger.rules.calc.category_proposals import CategoryProposal
from ledger.rules.calc.payment_kinds import PaymentKind
from ledger.rules.calc.split_parts import SplitPart
from ledger.rules.pages.transaction_texts import format_purpose, format_title
from ledger.rules.queries.split_proposals import SplitProposal, propose_splits
from ledger.transactions.pages.counterparty_lookup import format_counterparties_for_input
from ledger.transactions.pages.labels import LedgerNames, format_line_choice

MAX_QUERY_LENGTH = 6000  # the server takes 8,190 characters of an address, and the return address is in it too
PART_LABELS: dict[PaymentKind, Any] = {
    PaymentKind.LOAN: gettext_lazy("Repayment"),
    PaymentKind.INTEREST: gettext_lazy("Interest"),
    PaymentKind.BANK_FEES: gettext_lazy("Fees"),
}
RowValues = dict[str, str]  # of a row of the split form, by field


class SplitOffer(NamedTuple):
    """A split form with values that is offered for a transaction in place of one category."""

    row: Transaction
    button: str
    query: str  # of the form's address

    @property
    def title(self) -> str:
        return format_title(self.row)

    @property
    def text(self) -> str:
        return format_purpose(self.row)

    @property
    def amount_text(self) -> str:
        return format_money(self.row.amount_value, self.row.amount_currency)


def build_split_offers(
    company: Company,
    rows: Sequence[Transaction],
    proposals_by_id: Mapping[UUID, list[CategoryProposal]],
    names: LedgerNames,
) -> dict[UUID, SplitOffer]:
    """Return the offers by transaction id: as the text states, else as the last payment was split, else a period.

    Only uncategorized transactions of open months have offers, without possible transfers. A category that the user may
    not see is left empty.
    """
    split_rows = [
        row
        for row in rows
        if not row.categorized_value
        and not is_day_closed(company, row.date)
        and not any(proposal.is_transfer for proposal in proposals_by_id.get(row.id, ()))
    ]
    splits = propose_splits(company, split_rows)
    first_proposals = {row.id: find_visible_proposal(proposals_by_id.get(row.id, ()), names) for row in split_rows}
    counterparty_ids = {part.counterparty_id for split in splits.values() for part in split.parts}
    counterparty_ids |= {first.categorization.counterparty_id for first in first_proposals.values() if first}
    counterparties = (
        format_counterparties_for_input(company, {each for each in counterparty_ids if each})
        if names.can_read_counterparties
        else {}
    )
    offers = []
    for row in split_rows:
        period = find_stated_period(row.description or row.from_to)
        if split := splits.get(row.id):
            values = build_split_values(split.parts, row, period, names, counterparties)
            offers.append(SplitOffer(row, describe_split(split, row), encode_rows(values)))
        elif period:
            first = first_proposals[row.id]
            if first is None or first.categorization.pl_type != PlType.NEUTRAL:
                values = [build_period_values(row, period, first, counterparties)]
                offers.append(SplitOffer(row, describe_period(period), encode_rows(values)))
    return {offer.row.id: offer for offer in offers if len(offer.query) <= MAX_QUERY_LENGTH}


def find_visible_proposal(proposals: Iterable[CategoryProposal], names: LedgerNames) -> CategoryProposal | None:
    """Return the first suggestion of a category that the user may see, if it is likely."""
    visible = (proposal for proposal in proposals if proposal.categorization.category_id in names.categories)
    first = next(visible, None)
    return first if first and first.is_likely else None


def build_split_values(
    parts: Iterable[SplitPart],
    row: Transaction,
    period: StatedPeriod | None,
    names: LedgerNames,
    counterparties: Mapping[UUID, str],
) -> list[RowValues]:
    """Return the rows of a split; tax and counterparty stand in the first row of each part.

    Parts that had a service period have the one that the text states.
    """
    form_rows = []
    for part in parts:
        is_visible = part.category_id in names.categories
        lines = part.lines or {"": Decimal(0)}
        part_rows = [
            {
                "category": format_line_choice(part.category_id, line) if part.category_id and is_visible else "",
                "amount": format_amount(amount, row.amount_currency) if amount else "",
            }
            for line, amount in lines.items()
        ]
        part_rows[0] |= {
            "tax": format_amount(part.tax, row.amount_currency) if part.tax else "",
            "counterparty": counterparties.get(part.counterparty_id, "") if part.counterparty_id else "",
        }
        if period and part.has_service_period:
            part_rows[0] |= build_rule_values(period)
        form_rows += part_rows
    return form_rows


def build_period_values(
    row: Transaction, period: StatedPeriod, first: CategoryProposal | None, counterparties: Mapping[UUID, str]
) -> RowValues:
    """Return one row for the whole amount with a service period and the suggested category, if any is likely."""
    whole_amount = format_amount(row.amount_value, row.amount_currency)
    values = {"category": "", "amount": whole_amount} | build_rule_values(period)
    if first is None:
        return values
    counterparty_id = first.categorization.counterparty_id
    return values | {
        "category": format_line_choice(*first.categorization.choice),
        "counterparty": counterparties.get(counterparty_id, "") if counterparty_id else "",
        "tax": f"{format_percent_for_input(first.tax_percent)} %" if first.tax_percent else "",
    }


def build_rule_values(period: StatedPeriod) -> RowValues:
    """Return the fields that set a service period."""
    rule = DateRule.SERVICE_PERIOD.value
    return {"rule": rule, "start": period.start.isoformat(), "end": period.end.isoformat()}


def encode_rows(rows: Iterable[RowValues]) -> str:
    """Return the query string that fills in the rows of the form; every row has a category field."""
    return urlencode(
        {
            f"{name}-{number}": value
            for number, values in enumerate(rows)
            for name, value in values.items()
            if value or name == "category"
        }
    )


def describe_split(split: SplitProposal, row: Transaction) -> str:
    """Return the label of the button for a split."""
    locale = get_current_locale()
    if split.past_day:
        is_same_year = split.past_day.year == row.date.year
        day = locale.format_short_day(split.past_day) if is_same_year else locale.format_day(split.past_day)
        return _("Split as on {day}").format(day=day)
    if not split.stated_parts:
        return _("Split into repayment and interest")
    decimals = get_currency_precision(row.amount_currency)
    parts = (f"{PART_LABELS[kind]} {locale.format_number(abs(value), decimals)}" for kind, value in split.stated_parts)
    return _("Split as stated: {parts}").format(parts=" · ".join(parts))


def describe_period(period: StatedPeriod) -> str:
    """Return the label of the button for a service period."""
    locale = get_current_locale()
    text = _("Period in the text: {start} – {end} · Spread over {count} months")
    days = {"start": locale.format_day(period.start), "end": locale.format_day(period.end)}
    return text.format(count=period.month_count, **days)

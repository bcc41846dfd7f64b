"""What rows of the split form leave to us: percentages of the amount, and the part that is left."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.translation import gettext as _

from companies.errors import FieldErrors
from ledger.calc.money import WIDE, InvalidAmount, format_amount, parse_amount, round_half_up, tax_within
from ledger.calc.shares import shares
from ledger.money.amounts import typed_in

PERCENT = re.compile(r"([0-9]{1,3}(?:[.,][0-9]{1,4})?)\s*%", re.ASCII)
WHOLE = Decimal(100)


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it was typed."""

    number: int
    values: Mapping[str, str]

    @property
    def filled(self) -> bool:
        return any(self.values[name] for name in ("category", "amount", "tax")) and not self.values["remove"]

    @property
    def takes_the_rest(self) -> bool:
        """A category without an amount; one with an amount of tax alone is a part that is nothing but tax."""
        alone = not self.values["amount"] and percent_of(self.values["tax"], of=self.field("tax")) is not None
        return bool(self.values["category"]) and (alone or not (self.values["amount"] or self.values["tax"]))

    def field(self, name: str) -> str:
        return f"#/{name}-{self.number}"


def percent_of(text: str, *, of: str) -> Decimal | None:
    """40 of “40 %”; None for what is no percentage. Raises FieldErrors."""
    found = PERCENT.fullmatch(text.strip())
    if found is None:
        return None
    percent = Decimal(found[1].replace(",", "."))
    if not 0 < percent <= WHOLE:
        raise FieldErrors([(of, "out_of_range", _("Must be more than 0 % and at most 100 %."))])
    return percent


def shared_out(rows: list[Row], *, amount: Decimal, currency: str) -> list[Row]:
    """The rows with amounts in place of percentages, and in the one that takes what is left of ``amount``.

    A share has its tax in it, as the amount of a bill; a percentage of tax is taken out of a share, and added to an
    amount that was typed. Rows that are removed are no part of it. Raises FieldErrors.
    """
    filled = [each for each in rows if each.filled]
    percents = {
        each.number: percent
        for each in filled
        if (percent := percent_of(each.values["amount"], of=each.field("amount"))) is not None
    }
    whole = shares(amount, percents, currency)
    done = {each.number: resolved(each, share=whole.get(each.number), currency=currency) for each in filled}
    left = [each for each in filled if each.takes_the_rest]
    if len(left) > 1:
        raise FieldErrors([(left[1].field("amount"), "required", _("One row alone can take what is left."))])
    if left and (taken := values_of(each for each in done.values() if each.number != left[0].number)) is not None:
        rest = amount - taken
        if rest * amount <= 0:
            raise FieldErrors([(left[0].field("amount"), "required", _("Nothing is left for this row."))])
        done[left[0].number] = resolved(left[0], share=rest, currency=currency)
    return [done.get(each.number, each) for each in rows]


def resolved(row: Row, *, share: Decimal | None, currency: str) -> Row:
    """The row with its amount and its tax as amounts; what cannot be read stays, to be told by who reads the parts."""
    percent = percent_of(row.values["tax"], of=row.field("tax"))
    amount, tax = share, amount_of(row.values["tax"]) if row.values["tax"] else Decimal(0)
    if share is None:
        amount = amount_of(row.values["amount"])
        if percent is not None and amount is not None:
            tax = round_half_up(WIDE.divide(WIDE.multiply(amount, percent), WHOLE), currency)
    else:
        tax = tax if percent is None else tax_within(share, percent, currency)
        amount = None if tax is None else share - tax
    written = {} if share is None or amount is None else {"amount": format_amount(amount, currency)}
    if percent is not None and tax is not None:
        written["tax"] = format_amount(tax, currency)
    return replace(row, values={**row.values, **written})


def amount_of(text: str) -> Decimal | None:
    """None for what is no amount."""
    try:
        return parse_amount(typed_in(text, currency="", pointer=""))
    except (FieldErrors, InvalidAmount):
        return None


def values_of(rows: Iterable[Row]) -> Decimal | None:
    """What rows come to with their taxes; None where one of them cannot be read."""
    amounts = [amount_of(row.values[name]) for row in rows for name in ("amount", "tax") if row.values[name]]
    return None if None in amounts else sum((each for each in amounts if each is not None), Decimal(0))

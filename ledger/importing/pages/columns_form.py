"""The form that says how a CSV file is read: which account, which column is what, how dates and amounts are written."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ledger.calc.tables import Line
from ledger.importing.calc.columns import FIELDS, Columns, cells_of, names_of
from ledger.importing.calc.written import DateOrder, DecimalSign
from ledger.models import Account

LABELS = {
    "date": gettext_lazy("Date"),
    "amount": gettext_lazy("Amount"),
    "debit": gettext_lazy("Debit, money out"),
    "credit": gettext_lazy("Credit, money in"),
    "from_to": gettext_lazy("From or to"),
    "description": gettext_lazy("Description"),
    "currency": gettext_lazy("Currency"),
    "external_id": gettext_lazy("Id at the bank"),
    "notes": gettext_lazy("Notes"),
}
ORDERS = [
    (DateOrder.ISO.value, gettext_lazy("Year first: 2026-01-31")),
    (DateOrder.DAY_FIRST.value, gettext_lazy("Day first: 31.01.2026")),
    (DateOrder.MONTH_FIRST.value, gettext_lazy("Month first: 01/31/2026")),
]
SIGNS = [
    (DecimalSign.POINT.value, gettext_lazy("Point: 1,234.56")),
    (DecimalSign.COMMA.value, gettext_lazy("Comma: 1.234,56")),
]
MOST_HEADINGS = 1000
LONGEST_EXAMPLE = 24


class ColumnsForm(forms.Form):
    """Reads the choices; ``lines`` are the file's, ``accounts`` those that can be chosen."""

    account = forms.ChoiceField(label=gettext_lazy("Account"))
    headings = forms.IntegerField(
        label=gettext_lazy("Line of the headings"),
        min_value=0,
        max_value=MOST_HEADINGS,
        help_text=gettext_lazy("0 where the file has none"),
        widget=forms.TextInput(attrs={"inputmode": "numeric"}),
    )
    date_order = forms.ChoiceField(label=gettext_lazy("Dates are written"), choices=ORDERS)
    decimal_sign = forms.ChoiceField(label=gettext_lazy("Decimal sign"), choices=SIGNS)
    flip_sign = forms.BooleanField(
        label=gettext_lazy("Turn the signs: the file has money out as positive"), required=False
    )
    keep_duplicates = forms.BooleanField(
        label=gettext_lazy("Import rows that are there already once more"), required=False
    )
    name = forms.CharField(required=False, max_length=255, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any], *, lines: Sequence[Line], accounts: Sequence[Account]):
        super().__init__(data)
        self.accounts = {str(account.id): account for account in accounts}
        account: Any = self.fields["account"]
        named = [(key, f"{each.name} ({each.default_currency})") for key, each in self.accounts.items()]
        account.choices = named if data.get("account") in self.accounts else [("", _("Choose an account")), *named]
        choices = column_choices(lines, heading_line(data))
        for name in FIELDS:
            self.fields[name] = forms.ChoiceField(label=LABELS[name], required=name == "date", choices=choices)

    @property
    def columns_fields(self) -> list[Any]:
        """The fields that name a column, in the order in which they are shown."""
        return [self[name] for name in FIELDS]

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The choices as they were sent, for a form that sends them again."""
        return [(name, self.data[name]) for name in self.fields if self.data.get(name)]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        split = bool(data.get("debit") or data.get("credit"))
        if "amount" in data and not data["amount"] and not split:
            self.add_error("amount", _("Choose the column of the amount, or those of debit and credit."))
        if data.get("amount") and split:
            self.add_error("amount", _("Choose either one column for the amount, or those of debit and credit."))
        places = [data[name] for name in FIELDS if data.get(name)]
        for name in FIELDS:
            if data.get(name) and places.count(data[name]) > 1 and name not in self.errors:
                self.add_error(name, _("This column is chosen twice."))
        return data

    def chosen_account(self) -> Account:
        return self.accounts[self.cleaned_data["account"]]

    def columns(self) -> Columns:
        data = self.cleaned_data
        return Columns(
            headings=data["headings"],
            places={name: int(data[name]) for name in FIELDS if data[name]},
            date_order=DateOrder(data["date_order"]),
            decimal_sign=DecimalSign(data["decimal_sign"]),
            flip_sign=data["flip_sign"],
        )


def heading_line(data: Mapping[str, Any]) -> int:
    text = str(data.get("headings", ""))
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 0


def column_choices(lines: Sequence[Line], headings: int) -> list[tuple[str, str]]:
    """Each column by its name, with the first thing that stands in it."""
    rows = Columns(headings=headings).rows(lines[:MOST_HEADINGS])[:20]
    shown = [("", "–")]
    for place, name in enumerate(names_of(lines, headings, unnamed=_("Column {letters}"))):
        example = next(iter(cells_of(rows, place)), "").replace("\0", "␀")
        short = example if len(example) <= LONGEST_EXAMPLE else f"{example[: LONGEST_EXAMPLE - 1]}…"
        shown.append((str(place), f"{name[:60]} · {short}" if short else name[:60]))
    return shown


def as_sent(columns: Columns, *, account: str, name: str) -> dict[str, str]:
    """The choices as the form sends them."""
    sent = {"account": account, "name": name, "headings": str(columns.headings)}
    sent |= {field: str(place) for field, place in columns.places.items()}
    sent |= {"date_order": columns.date_order.value, "decimal_sign": columns.decimal_sign.value}
    return sent | ({"flip_sign": "on"} if columns.flip_sign else {})

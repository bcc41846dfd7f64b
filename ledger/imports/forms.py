"""The form of how a CSV file is read: account, columns, and how dates and amounts are written."""

from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from typing import Any

from django import forms
from django.forms.utils import ErrorList
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.column_mapping import FIELDS, ColumnMapping, fold_setting_value
from ledger.imports.calc.columns import format_column_letters
from ledger.imports.calc.dates import DateOrder
from ledger.imports.calc.table import Table
from ledger.models import Account
from ledger.money.calc.money import CURRENCIES
from ledger.transactions.fields import TRANSACTION_TEXTS

FIELD_LABELS = {
    "date": gettext_lazy("Date"),
    "valueDate": gettext_lazy("Value date"),
    "amount": gettext_lazy("Amount"),
    "debit": gettext_lazy("Debit (money out)"),
    "credit": gettext_lazy("Credit (money in)"),
    "direction": gettext_lazy("Direction (in or out)"),
    "balance": gettext_lazy("Balance"),
    "balanceBefore": gettext_lazy("Previous balance"),
    "balanceDirection": gettext_lazy("Debit or credit balance"),
    "fee": gettext_lazy("Fee, deducted from the amount"),
    "currency": gettext_lazy("Currency"),
    "counterparty": gettext_lazy("From / to"),
    "counterpartyAccount": gettext_lazy("Counterparty account"),
    "description": gettext_lazy("Description"),
    "reference": gettext_lazy("Bank reference"),
    "status": gettext_lazy("Status"),
    "account": gettext_lazy("Own account"),
    "category": gettext_lazy("Category"),
    **{text.name: gettext_lazy(text.label) for text in TRANSACTION_TEXTS},
}
SETTING_LABELS = {
    "dateOrder": gettext_lazy("Date format"),
    "decimalMark": gettext_lazy("Decimal mark"),
    "flipSign": gettext_lazy("Reverse signs (positive amounts are money out)"),
    "directionValues": FIELD_LABELS["direction"],
    "minusMeans": gettext_lazy("Meaning of the minus sign"),
}
MORE_DESCRIPTIONS = ("description2", "description3", "description4")
DATE_ORDER_CHOICES = [
    (DateOrder.ISO.value, gettext_lazy("Year first: 2026-01-31")),
    (DateOrder.DAY_FIRST.value, gettext_lazy("Day first: 31.01.2026")),
    (DateOrder.MONTH_FIRST.value, gettext_lazy("Month first: 01/31/2026")),
]
DECIMAL_MARK_CHOICES = [
    (DecimalMark.POINT.value, gettext_lazy("Point: 1,234.56")),
    (DecimalMark.COMMA.value, gettext_lazy("Comma: 1.234,56")),
]
DETECTED_CHOICE = ("", gettext_lazy("Detected"))
AMOUNT_CURRENCIES = [
    ("", gettext_lazy("From the file, otherwise the account currency")),
    *((code, code) for code in CURRENCIES),
]
ENCODING_CHOICES = [
    DETECTED_CHOICE, ("utf-8", "UTF-8"), ("utf-16", "UTF-16"), ("windows-1252", "Windows-1252"),
    ("windows-1250", "Windows-1250"), ("windows-1251", "Windows-1251"), ("windows-1254", "Windows-1254"),
    ("iso-8859-2", "ISO-8859-2"), ("iso-8859-15", "ISO-8859-15"), ("gb18030", "GB18030"), ("shift_jis", "Shift_JIS"),
]  # fmt: skip
SEPARATOR_CHOICES = [
    DETECTED_CHOICE,
    (",", gettext_lazy("Comma")),
    (";", gettext_lazy("Semicolon")),
    ("\t", gettext_lazy("Tab")),
    ("|", gettext_lazy("Vertical bar")),
]
STATUS_CHOICES = [
    ("booked", gettext_lazy("Import as booked")),
    ("pending", gettext_lazy("Import as pending")),
    ("leaveOut", gettext_lazy("Skip")),
]
DIRECTION_CHOICES = [("in", gettext_lazy("Money in")), ("out", gettext_lazy("Money out"))]
DIRECTION_VALUE_CHOICES = [*DIRECTION_CHOICES, ("leaveOut", gettext_lazy("Skip"))]
MINUS = {
    "debit": [
        ("repeats", gettext_lazy("Money out. Amounts without a minus sign are money in.")),
        ("reverses", gettext_lazy("Money in. Amounts without a minus sign are money out.")),
    ],
    "credit": [
        ("repeats", gettext_lazy("Money in. Amounts without a minus sign are money out.")),
        ("reverses", gettext_lazy("Money out. Amounts without a minus sign are money in.")),
    ],
    "direction": [
        ("repeats", gettext_lazy("Nothing: only the direction counts")),
        ("reverses", gettext_lazy("A reversal: the direction is inverted")),
        ("decides", gettext_lazy("Money out, regardless of direction")),
    ],
}
MINUS_LABELS = {
    "debit": gettext_lazy("Minus sign in the debit column"),
    "credit": gettext_lazy("Minus sign in the credit column"),
    "direction": gettext_lazy("Minus sign with a direction"),
}
ACCOUNT_CHOICES = [("own", gettext_lazy("Account")), ("other", gettext_lazy("Skip"))]
MAX_LINES = 100_000
MAX_EXAMPLE_LENGTH = 24
MAX_VALUES_SHOWN = 30


class DetectedField(forms.BoundField):
    """A field that nobody has sent yet: it shows no errors."""

    @property
    def errors(self) -> ErrorList:
        return ErrorList()


class ColumnsForm(forms.Form):
    """The choices; ``table`` is the file's, ``accounts`` can be chosen. ``is_first``: nobody has sent them yet."""

    account = forms.ChoiceField(label=gettext_lazy("Account"))
    skip_above = forms.IntegerField(
        label=gettext_lazy("Lines before the headings"), min_value=0, max_value=MAX_LINES, required=False,
        widget=forms.TextInput(attrs={"inputmode": "numeric"}),
    )  # fmt: skip
    skip_below = forms.IntegerField(
        label=gettext_lazy("Lines after the last row"), min_value=0, max_value=MAX_LINES, required=False,
        widget=forms.TextInput(attrs={"inputmode": "numeric"}),
    )  # fmt: skip
    date_order = forms.ChoiceField(label=SETTING_LABELS["dateOrder"], choices=DATE_ORDER_CHOICES)
    decimal_mark = forms.ChoiceField(label=SETTING_LABELS["decimalMark"], choices=DECIMAL_MARK_CHOICES)
    amount_currency = forms.ChoiceField(
        label=gettext_lazy("Currency of the amounts"), choices=AMOUNT_CURRENCIES, required=False
    )
    encoding = forms.ChoiceField(label=gettext_lazy("Encoding"), choices=ENCODING_CHOICES, required=False)
    separator = forms.ChoiceField(label=gettext_lazy("Separator"), choices=SEPARATOR_CHOICES, required=False)
    flip_sign = forms.BooleanField(label=SETTING_LABELS["flipSign"], required=False)
    sign_from_balance = forms.BooleanField(label=gettext_lazy("Derive signs from the balance column"), required=False)
    unproven_sign = forms.ChoiceField(
        label=gettext_lazy("Row with unknown sign"),
        choices=[("", "–"), *DIRECTION_CHOICES],
        required=False,
    )
    keep_duplicates = forms.BooleanField(label=gettext_lazy("Import duplicates"), required=False)
    name = forms.CharField(required=False, max_length=255, widget=forms.HiddenInput)
    found_above = forms.CharField(required=False, max_length=10, widget=forms.HiddenInput)

    def __init__(
        self, data: AnyMapping[str, Any], *, table: Table, accounts: Sequence[Account], is_first: bool = False
    ):
        self.bound_field_class = DetectedField if is_first else None
        super().__init__(data)
        self.table = table
        self.accounts = {str(account.id): account for account in accounts}
        account: Any = self.fields["account"]
        account_choices = [(key, f"{each.name} ({each.default_currency})") for key, each in self.accounts.items()]
        account.choices = (
            account_choices
            if data.get("account") in self.accounts
            else [("", _("Choose an account")), *account_choices]
        )
        choices = build_column_choices(table)
        for name in FIELDS:
            field = forms.ChoiceField(label=FIELD_LABELS[name], required=name == "date", choices=choices)
            self.fields[get_form_field_name(name)] = field
        for name in MORE_DESCRIPTIONS:
            self.fields[name] = forms.ChoiceField(label=_("Additional description"), required=False, choices=choices)
        for name, kinds in MINUS.items():
            self.fields[f"minus_{name}"] = forms.ChoiceField(
                label=MINUS_LABELS[name], choices=[DETECTED_CHOICE, *kinds], required=False
            )
        self.value_names = {
            "direction": self.add_value_fields("direction", DIRECTION_VALUE_CHOICES),
            "status": self.add_value_fields("status", STATUS_CHOICES),
            "account": self.add_value_fields("account", ACCOUNT_CHOICES),
        }

    def add_value_fields(self, name: str, choices: Sequence[tuple[str, Any]]) -> dict[str, str]:
        """Add a field for each value of the column chosen for a field. Returns values by form field."""
        position = str(self.data.get(get_form_field_name(name), ""))
        if name == "account" and not position and self.table.sections:
            values = self.table.section_names
        elif position.isdecimal() and int(position) < self.table.width:
            values = list_column_values(self.table, int(position))
        else:
            values = []
        if name == "account" and len(values) < 2:
            return {}
        value_by_field = {}
        for value in values[:MAX_VALUES_SHOWN]:
            field = f"{name}:{value}"
            label = value or _("(empty)")
            self.fields[field] = forms.ChoiceField(label=label, choices=[("", "–"), *choices])
            value_by_field[field] = value
        return value_by_field

    @property
    def columns_fields(self) -> list[Any]:
        """The fields that name a column, in the order shown."""
        position = FIELDS.index("description") + 1
        return [
            self[get_form_field_name(name)] for name in (*FIELDS[:position], *MORE_DESCRIPTIONS, *FIELDS[position:])
        ]

    @property
    def values_fields(self) -> list[Any]:
        """The fields that say what a value of a column means, and what a sign means in those that are chosen."""
        values = [self[field] for fields in self.value_names.values() for field in fields]
        values += [self[f"minus_{name}"] for name in MINUS if self.data.get(name)]
        return values + ([self["unproven_sign"]] if self.data.get("sign_from_balance") else [])

    @property
    def reading_fields(self) -> list[Any]:
        """The fields that say how dates and amounts are written."""
        return [self[name] for name in ("account", "skip_above", "date_order", "decimal_mark", "amount_currency")]

    @property
    def file_fields(self) -> list[Any]:
        """The fields that say how the file is written."""
        return [self[name] for name in ("encoding", "separator", "skip_below")]

    @property
    def open_fields(self) -> list[Any]:
        """The fields without a valid answer, and values of columns whose meaning is not known."""
        names = [name for name in self.fields if name in self.errors]
        names += [name for name in ("debit", "credit") if "amount" in names and name not in names]
        values = [field for fields in self.value_names.values() for field in fields]
        return [
            self[name] for name in [*names, *(each for each in values if each not in names and not self.data.get(each))]
        ]

    @property
    def recognized_settings(self) -> list[tuple[Any, Any]]:
        """The answers that are known: label and chosen text of each."""
        open_fields = self.open_fields
        fields = [
            self["account"],
            *self.columns_fields,
            self["date_order"],
            self["decimal_mark"],
            self["amount_currency"],
        ]
        answers = [
            (field.label, dict(field.field.choices).get(field.value()))
            for field in fields
            if field.value() and field not in open_fields
        ]
        switches = [self[name] for name in ("flip_sign", "sign_from_balance") if self[name].value()]
        return [(label, text) for label, text in answers if text] + [(field.label, _("Yes")) for field in switches]

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The choices as sent, for a form that sends them again."""
        return [(name, self.data[name]) for name in self.fields if self.data.get(name)]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        split = bool(data.get("debit") or data.get("credit"))
        if "amount" in data and not data["amount"] and not split:
            self.add_error("amount", _("Choose an amount column or debit and credit columns."))
        if data.get("amount") and split:
            self.add_error("amount", _("Choose either an amount column or debit and credit columns."))
        names = [get_form_field_name(name) for name in FIELDS] + [*MORE_DESCRIPTIONS]
        positions = [data[name] for name in names if data.get(name)]
        for name in names:
            if data.get(name) and positions.count(data[name]) > 1 and name not in self.errors:
                self.add_error(name, _("This column is selected twice."))
        return data

    def get_chosen_account(self) -> Account:
        return self.accounts[self.cleaned_data["account"]]

    def build_mapping(self) -> ColumnMapping:
        """How the rows are read, but for what headings tell."""
        data = self.cleaned_data
        columns = {
            name: int(position)
            for name in FIELDS
            if name != "description" and (position := data.get(get_form_field_name(name)))
        }
        description_positions = [data[name] for name in ("description", *MORE_DESCRIPTIONS) if data.get(name)]
        kinds_by_field = {
            name: {fold_setting_value(value): data[field] for field, value in fields.items()}
            for name, fields in self.value_names.items()
        }
        own_accounts = tuple(value for field, value in self.value_names["account"].items() if data[field] == "own")
        return ColumnMapping(
            columns=columns,
            description=tuple(int(position) for position in description_positions),
            date_order=DateOrder(data["date_order"]),
            decimal_mark=DecimalMark(data["decimal_mark"]),
            flip_sign=data["flip_sign"],
            sign_from_balance=data["sign_from_balance"],
            unproven_sign=data["unproven_sign"],
            minus_means={name: kind for name in MINUS if (kind := data[f"minus_{name}"])},
            directions=kinds_by_field["direction"],
            statuses=kinds_by_field["status"],
            accounts=own_accounts if self.value_names["account"] else None,
        )


def get_form_field_name(name: str) -> str:
    """Return the form's name of a field; ``account`` is the account that is imported into."""
    return "account_column" if name == "account" else name


def list_column_values(table: Table, position: int) -> list[str]:
    """Return the values of a column, each once, ignoring case."""
    value_by_folded: dict[str, str] = {}
    for line in table.rows:
        cells = line.cells
        if position < len(cells) and len(value_by_folded) <= MAX_VALUES_SHOWN:
            value_by_folded.setdefault(fold_setting_value(cells[position]), cells[position])
    return list(value_by_folded.values())


def list_other_accounts(table: Table, mapping: ColumnMapping) -> list[str]:
    """Return the accounts of a table whose rows are not imported."""
    position, own_names = mapping.columns.get("account"), {fold_setting_value(name) for name in mapping.accounts or ()}
    names = table.section_names if position is None else list_column_values(table, position)
    return [name for name in names if fold_setting_value(name) not in own_names]


def build_column_choices(table: Table) -> list[tuple[str, str]]:
    """Return each column by its name, with its first value."""
    rows = [line.cells for line in table.rows[:20]]
    choices = [("", "–")]
    for position, name in enumerate(table.names):
        title = name or _("Column {letters}").format(letters=format_column_letters(position))
        example = next((cells[position] for cells in rows if position < len(cells) and cells[position]), "").replace(
            "\0", "␀"
        )
        short = example if len(example) <= MAX_EXAMPLE_LENGTH else f"{example[: MAX_EXAMPLE_LENGTH - 1]}…"
        choices.append((str(position), f"{title[:60]} · {short}" if short else title[:60]))
    return choices


def to_form_data(
    mapping: ColumnMapping, table: Table, *, account: str, name: str, settings: AnyMapping[str, Any]
) -> dict[str, str]:
    """Return a mapping as form data."""
    above = str(
        max(table.heading_line - 1, 0) if table.heading_line else (table.rows[0].number - 1 if table.rows else 0)
    )
    data = {"account": account, "name": name, "skip_above": above, "found_above": above}
    data["skip_below"] = str(settings.get("skipBelow", 0))
    data |= {get_form_field_name(field): str(position) for field, position in mapping.columns.items()}
    data |= {
        field: str(position)
        for field, position in zip(("description", *MORE_DESCRIPTIONS), mapping.description, strict=False)
    }
    data |= {"date_order": mapping.date_order.value, "decimal_mark": mapping.decimal_mark.value}
    data |= {field: settings[field] for field in ("encoding", "separator") if settings.get(field)}
    data |= {"amount_currency": settings["currency"]} if settings.get("currency") else {}
    for kind, kind_by_value in (("direction", mapping.directions), ("status", mapping.statuses)):
        if kind in mapping.columns:
            values = list_column_values(table, mapping.columns[kind])
            data |= {
                f"{kind}:{value}": kind_by_value[fold_setting_value(value)]
                for value in values
                if fold_setting_value(value) in kind_by_value
            }
    names = (
        list_column_values(table, mapping.columns["account"]) if "account" in mapping.columns else table.section_names
    )
    if len(names) > 1:
        own_accounts = {fold_setting_value(value) for value in mapping.accounts or ()}
        data |= {
            f"account:{value}": "own"
            if mapping.accounts is None or fold_setting_value(value) in own_accounts
            else "other"
            for value in names
        }
    data |= {"flip_sign": "on"} if mapping.flip_sign else {}
    data |= {f"minus_{kind}": meaning for kind, meaning in mapping.minus_means.items()}
    data |= {"unproven_sign": mapping.unproven_sign} if mapping.unproven_sign else {}
    return data | ({"sign_from_balance": "on"} if mapping.sign_from_balance else {})

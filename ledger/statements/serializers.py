"""Statements on the wire, and what they say of accounts."""

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import Shape
from companies.errors import FieldErrors
from ledger.bulk.shapes import skipped_rows
from ledger.calc.csv_settings import list_setting_faults
from ledger.importing.bodies import MOST_ITEMS
from ledger.importing.serializers import FORMATS
from ledger.money.amounts import amount_out
from ledger.money.fields import AmountField, CurrencyField
from ledger.statements.archives import LONGEST_NAME
from ledger.statements.calc.archives import MAX_FILES
from ledger.statements.calc.facts import LONGEST_NUMBER
from ledger.statements.calc.qif import DAY_FIRST, MONTH_FIRST
from ledger.statements.receiving import Received, Told

FILE = {"type": "string", "format": "binary", "maxLength": settings.MAX_UPLOAD_MB * 1024 * 1024}
SPLITS = ["entry", "details"]
ORDERS = [DAY_FIRST, MONTH_FIRST]
CHOICES = {"dryRun": ["true", "false"], "split": SPLITS, "dateOrder": ORDERS}
NAMES = {"file", "accountId", "importSettings", *CHOICES}


@extend_schema_field(FILE)
class StatementFileField(serializers.FileField):
    """The bytes of a bank's file."""


class StatementUpload(Shape):
    file = StatementFileField(
        help_text="CAMT.052, 053 or 054, MT940, MT942, OFX, QIF, CSV, an `.xlsx` workbook, or a ZIP archive of such "
        "files, told by its content"
    )
    account_id = fields.IdField(
        required=False, help_text="needed for CSV and QIF; else the account is found by its number"
    )
    dry_run = fields.FlagField(required=False, help_text="true stores nothing")
    split = fields.ChoiceField(
        choices=SPLITS, required=False, help_text="details: single payments in place of entries that are several"
    )
    date_order = fields.ChoiceField(choices=ORDERS, required=False, help_text="of a QIF file whose dates do not tell")
    import_settings = fields.TextField(
        required=False,
        max_length=16 * 1024,
        help_text="JSON: how a CSV file is read, as in `importSettings.csv` of the account, in place of what is kept",
    )


class StatementTold(Shape):
    account_id = fields.IdField()
    account_number = fields.TextField(allow_null=True, max_length=LONGEST_NUMBER)
    currency = CurrencyField()
    statement_id = fields.TextField(allow_null=True, max_length=10_000)
    start_date = fields.DayField(allow_null=True)
    end_date = fields.DayField(allow_null=True)
    opening_balance = AmountField(allow_null=True)
    closing_balance = AmountField(allow_null=True)
    booked_sum = AmountField(allow_null=True)
    difference = AmountField(
        allow_null=True, help_text="closing − opening − bookedSum: whether the file agrees by itself"
    )
    count = fields.CountField(help_text="how many are new")
    duplicates = fields.CountField(help_text="how many are not new: those that are booked now or have lapsed too")
    pending = fields.CountField(help_text="how many of its entries are pending")
    ledger_balance = AmountField(allow_null=True, help_text="the account's at the end of endDate, after the import")
    ledger_difference = AmountField(allow_null=True, help_text="closingBalance − ledgerBalance")


class StatementResult(Shape):
    import_id = fields.IdField(allow_null=True, help_text="null where nothing was stored")
    dry_run = fields.FlagField()
    format = fields.ChoiceField(choices=FORMATS)
    count = fields.CountField()
    duplicates = fields.CountField()
    booked = fields.CountField(help_text="how many of the duplicates book what was pending until now")
    lapsed = fields.CountField(
        help_text="how many of the duplicates are pending, and a final statement of their day is there without them: "
        "they are not stored"
    )
    skipped_before_data_start = fields.CountField()
    other_account_numbers = serializers.ListField(
        child=fields.TextField(max_length=LONGEST_NUMBER),
        max_length=MOST_ITEMS,
        help_text="accounts of the file that were left out, since accountId names another (QIF: their names)",
    )
    possible_duplicates = fields.CountField(
        help_text="how many of the new ones have the account, day, amount and currency of one that was there with "
        "other words"
    )
    left_out = fields.CountField(
        help_text="rows of a CSV file that are no movements of the account: balances, sums, footers, other accounts, "
        "statuses that are not imported"
    )
    left_out_files = serializers.ListField(
        child=fields.TextField(max_length=LONGEST_NAME),
        max_length=MAX_FILES,
        help_text="files of an archive that are plainly no statements, such as notes and pictures",
    )
    errors = skipped_rows()  # type: ignore[assignment]
    statements = serializers.ListField(child=StatementTold(), max_length=MOST_ITEMS)


class ReconciliationRow(Shape):
    date = fields.DayField()
    reported = AmountField()
    calculated = AmountField(help_text="what the transactions add up to now")
    difference = AmountField()
    import_id = fields.IdField()


def options_of(form: Any) -> dict[str, str]:
    """The form's options by their names; one that is empty is left out. Raises FieldErrors."""
    sent = {name: form.get(name) for name in NAMES - {"file"} if form.get(name) not in (None, "")}
    if isinstance(sent.get("dryRun"), str):
        sent["dryRun"] = sent["dryRun"].lower()  # clients that are made from the document send Python's True
    wrong = [
        (f"#/{name}", "invalid_choice", f"Must be {' or '.join(choices)}.")
        for name, choices in CHOICES.items()
        if sent.get(name, choices[0]) not in choices
    ]
    if wrong:
        raise FieldErrors(wrong)
    return sent


def settings_of(options: dict[str, str]) -> Any:
    """How a CSV file is read, where the request says so. Raises FieldErrors."""
    text = options.get("importSettings")
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise FieldErrors([("#/importSettings", "invalid_value", "Must be a JSON object.")])
    settings, pointer = (found["csv"], "#/importSettings/csv") if "csv" in found else (found, "#/importSettings")
    if settings is None:
        return None
    if not isinstance(settings, dict):
        raise FieldErrors([(pointer, "invalid_value", "Must be an object.")])
    if faults := list_setting_faults(settings):
        raise FieldErrors([(pointer_of(pointer, fault.path), fault.code, fault.detail) for fault in faults])
    return settings


def pointer_of(start: str, path: Iterable[str | int]) -> str:
    """A JSON pointer to a member below another."""
    return "/".join([start, *(str(each).replace("~", "~0").replace("/", "~1") for each in path)])


def answered(received: Received) -> dict[str, Any]:
    return {
        "importId": str(received.batch.id) if received.batch else None,
        "dryRun": received.dry_run,
        "format": received.format,
        "count": received.count,
        "duplicates": received.duplicates,
        "booked": received.booked,
        "lapsed": received.lapsed,
        "skippedBeforeDataStart": received.skipped_before_data_start,
        "otherAccountNumbers": received.other_accounts,
        "possibleDuplicates": received.possible_duplicates,
        "leftOut": received.left_out,
        "leftOutFiles": received.left_out_files,
        "errors": [],
        "statements": [told_of(each) for each in received.statements],
    }


def told_of(told: Told) -> dict[str, Any]:
    statement = told.statement

    def amount(value: Decimal | None) -> str | None:
        return None if value is None else amount_out(value, statement.currency)

    return {
        "accountId": str(told.account.id),
        "accountNumber": statement.account_number or None,
        "currency": statement.currency,
        "statementId": statement.statement_id or None,
        "startDate": statement.start and statement.start.isoformat(),
        "endDate": statement.end and statement.end.isoformat(),
        "openingBalance": amount(statement.opening),
        "closingBalance": amount(statement.closing),
        "bookedSum": amount(statement.booked_sum),
        "difference": amount(statement.difference),
        "count": told.count,
        "duplicates": told.duplicates,
        "pending": told.pending,
        "ledgerBalance": amount(told.ledger_balance),
        "ledgerDifference": amount(told.ledger_difference),
    }

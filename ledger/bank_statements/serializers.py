"""Serializers of bank statements and reconciliation."""

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import StrictSerializer
from companies.errors import ValidationFailed
from ledger.accounts.calc.csv_settings import list_setting_faults
from ledger.bank_statements.actions.statement_results import StatementImportResult, StatementOutcome
from ledger.bank_statements.archives import LONGEST_NAME
from ledger.bank_statements.parsers.archives import MAX_FILES
from ledger.bank_statements.parsers.models import MAX_ACCOUNT_NUMBER_LENGTH
from ledger.bank_statements.parsers.qif import DAY_FIRST, MONTH_FIRST
from ledger.bulk.serializers import build_skipped_rows_field
from ledger.imports.import_body import MAX_IMPORT_ITEMS
from ledger.imports.row_errors import format_balance_fault
from ledger.imports.serializers import CLOSED_MODES, DRY_RUN_CHOICES, IMPORT_FORMATS, UploadField, parse_upload_options
from ledger.money.amounts import format_plain_amount
from ledger.money.fields import AmountField, CurrencyField

SPLIT_MODES = ["entry", "details"]
DATE_ORDERS = [DAY_FIRST, MONTH_FIRST]
OPTION_CHOICES = {"dryRun": DRY_RUN_CHOICES, "split": SPLIT_MODES, "dateOrder": DATE_ORDERS, "closed": CLOSED_MODES}
FORM_FIELDS = {"file", "accountId", "importSettings", *OPTION_CHOICES}


class StatementUpload(StrictSerializer):
    file = UploadField(
        help_text="A CAMT.052, 053 or 054, MT940, MT942, OFX, QIF, CSV or `.xlsx` file, or a ZIP archive of them; "
        "detected automatically."
    )
    account_id = fields.IdField(
        required=False,
        help_text="Account of the file; required for CSV and QIF, otherwise found by the account number in the file.",
    )
    dry_run = fields.BooleanField(required=False, help_text="`true` returns the result without storing it.")
    split = fields.ChoiceField(
        choices=SPLIT_MODES, required=False, help_text="`details` imports the single payments of batch entries."
    )
    date_order = fields.ChoiceField(
        choices=DATE_ORDERS, required=False, help_text="Date order, for ambiguous QIF files."
    )
    closed = fields.ChoiceField(
        choices=CLOSED_MODES,
        required=False,
        help_text="skip leaves out new entries in closed months; refuse stores nothing if there are any.",
    )
    import_settings = fields.TextField(
        required=False,
        max_length=16 * 1024,
        help_text="CSV settings as JSON, like the account's `importSettings.csv`, instead of the saved ones.",
    )


class BalanceFaultSerializer(StrictSerializer):
    """Why a CSV file with a balance column has no opening and closing balance."""

    line = fields.CountField(help_text="Line of the file whose balance does not add up, or is empty.")
    detail = fields.TextField(max_length=500, help_text="Why the account is not reconciled with the file.")


class StatementDetails(StrictSerializer):
    account_id = fields.IdField()
    account_number = fields.TextField(allow_null=True, max_length=MAX_ACCOUNT_NUMBER_LENGTH)
    currency = CurrencyField()
    statement_id = fields.TextField(allow_null=True, max_length=10_000)
    start_date = fields.DateField(allow_null=True)
    end_date = fields.DateField(allow_null=True)
    opening_balance = AmountField(allow_null=True)
    closing_balance = AmountField(allow_null=True)
    booked_sum = AmountField(allow_null=True)
    difference = AmountField(
        allow_null=True, help_text="closingBalance − openingBalance − bookedSum; 0 if the file is consistent."
    )
    count = fields.CountField(help_text="Number of new entries.")
    duplicates = fields.CountField(help_text="Number of entries not new, including booked and lapsed ones.")
    pending = fields.CountField(help_text="Number of pending entries.")
    ledger_balance = AmountField(allow_null=True, help_text="Account balance at the end of endDate, after the import.")
    ledger_difference = AmountField(allow_null=True, help_text="closingBalance − ledgerBalance; 0 if reconciled.")
    balance_fault = BalanceFaultSerializer(
        allow_null=True,
        help_text="First row of a CSV file whose balance is not the previous one plus the amount; null without one.",
    )


class StatementResult(StrictSerializer):
    import_id = fields.IdField(allow_null=True, help_text="ID of the import; null if nothing was stored.")
    dry_run = fields.BooleanField()
    format = fields.ChoiceField(choices=IMPORT_FORMATS)
    count = fields.CountField()
    duplicates = fields.CountField()
    booked = fields.CountField(help_text="Number of duplicates that book a pending transaction.")
    lapsed = fields.CountField(
        help_text="Number of pending entries not stored because a final statement of their date does not contain them."
    )
    skipped_before_data_start = fields.CountField()
    skipped_closed = fields.CountField(
        help_text="New entries in closed months that `closed: skip` left out, opening balances included."
    )
    other_account_numbers = serializers.ListField(
        child=fields.TextField(max_length=MAX_ACCOUNT_NUMBER_LENGTH),
        max_length=MAX_IMPORT_ITEMS,
        help_text="Account numbers in the file that were skipped because of accountId; names for QIF.",
    )
    possible_duplicates = fields.CountField(
        help_text="Number of new transactions that match an existing one in account, date, amount and currency but not "
        "in text."
    )
    left_out = fields.CountField(
        help_text="Number of CSV rows skipped: balances, totals, footers, other accounts and statuses that are not "
        "imported."
    )
    left_out_files = serializers.ListField(
        child=fields.TextField(max_length=LONGEST_NAME),
        max_length=MAX_FILES,
        help_text="Files of an archive that are not statements, such as notes and pictures.",
    )
    errors = build_skipped_rows_field()  # type: ignore[assignment]
    statements = serializers.ListField(child=StatementDetails(), max_length=MAX_IMPORT_ITEMS)


class ReconciliationRow(StrictSerializer):
    date = fields.DateField()
    reported = AmountField()
    calculated = AmountField(help_text="Balance calculated from the transactions.")
    difference = AmountField()
    import_id = fields.IdField()


def parse_statement_options(form: Any) -> dict[str, str]:
    """Return the form's options by name, without empty ones. Raises ValidationFailed."""
    return parse_upload_options(form, names=FORM_FIELDS - {"file"}, choices=OPTION_CHOICES)


def parse_import_settings(options: dict[str, str]) -> Any:
    """Return how a CSV file is read, if the request says so. Raises ValidationFailed."""
    text = options.get("importSettings")
    if text is None:
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise ValidationFailed([("#/importSettings", "invalid_value", "Must be a JSON object.")])
    settings, pointer = (parsed["csv"], "#/importSettings/csv") if "csv" in parsed else (parsed, "#/importSettings")
    if settings is None:
        return None
    if not isinstance(settings, dict):
        raise ValidationFailed([(pointer, "invalid_value", "Must be an object.")])
    if faults := list_setting_faults(settings):
        raise ValidationFailed([(join_pointer(pointer, fault.path), fault.code, fault.detail) for fault in faults])
    return settings


def join_pointer(start: str, path: Iterable[str | int]) -> str:
    """A JSON pointer to a member below another."""
    return "/".join([start, *(str(each).replace("~", "~0").replace("/", "~1") for each in path)])


def serialize_import_result(result: StatementImportResult) -> dict[str, Any]:
    return {
        "importId": str(result.batch.id) if result.batch else None,
        "dryRun": result.dry_run,
        "format": result.format,
        "count": result.count,
        "duplicates": result.duplicates,
        "booked": result.booked,
        "lapsed": result.lapsed,
        "skippedBeforeDataStart": result.skipped_before_data_start,
        "skippedClosed": result.skipped_closed,
        "otherAccountNumbers": result.other_accounts,
        "possibleDuplicates": result.possible_duplicates,
        "leftOut": result.left_out,
        "leftOutFiles": result.left_out_files,
        "errors": [],
        "statements": [serialize_statement_outcome(statement_outcome) for statement_outcome in result.statements],
    }


def serialize_statement_outcome(statement_outcome: StatementOutcome) -> dict[str, Any]:
    statement = statement_outcome.statement
    fault = statement.balance_fault

    def amount(value: Decimal | None) -> str | None:
        return None if value is None else format_plain_amount(value, statement.currency)

    return {
        "accountId": str(statement_outcome.account.id),
        "accountNumber": statement.account_number or None,
        "currency": statement.currency,
        "statementId": statement.statement_id or None,
        "startDate": statement.start and statement.start.isoformat(),
        "endDate": statement.end and statement.end.isoformat(),
        "openingBalance": amount(statement.opening),
        "closingBalance": amount(statement.closing),
        "bookedSum": amount(statement.booked_sum),
        "difference": amount(statement.difference),
        "count": statement_outcome.count,
        "duplicates": statement_outcome.duplicates,
        "pending": statement_outcome.pending,
        "ledgerBalance": amount(statement_outcome.ledger_balance),
        "ledgerDifference": amount(statement_outcome.ledger_difference),
        "balanceFault": fault and {"line": fault.line, "detail": format_balance_fault(fault)},
    }

"""Serializers of accounts and initial balances."""

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StoredJsonSerializer, StrictModelSerializer, StrictSerializer
from ledger.accounts.calc.csv_settings import SettingFault, is_unknown_setting, list_setting_faults
from ledger.accounts.fields import ACCOUNT_TEXTS
from ledger.models import Account
from ledger.money.fields import AmountField, CurrencyField

CONNECTION_STATUSES = ["active", "syncing", "expiring", "expired", "reauthRequired", "error", "disconnected"]


class Institution(StoredJsonSerializer):
    id = fields.IntegerField(allow_null=True)
    name = fields.TextField(allow_null=True)
    bic = fields.TextField(allow_null=True)
    logo_stored = fields.BooleanField(allow_null=True)


class ProviderAccount(StoredJsonSerializer):
    id = fields.IntegerField(allow_null=True)
    iban = fields.TextField(allow_null=True)
    account_holder_name = fields.TextField(allow_null=True)
    institution = Institution(allow_null=True)


class BankConnection(StoredJsonSerializer):
    """What an integration or the latest bank statement reported about the account; read-only."""

    type = fields.TextField(allow_null=True)
    country_code = fields.TextField(allow_null=True)
    status = fields.ChoiceField(choices=CONNECTION_STATUSES, allow_null=True)
    integration_id = fields.TextField(allow_null=True)
    expire_time = fields.TimeField(allow_null=True)
    last_sync_time = fields.TimeField(allow_null=True)
    balance_mismatch_reported_balances = serializers.ListField(child=fields.NumberField(), allow_null=True)
    balance_mismatch_calculated_balance = fields.NumberField(allow_null=True)
    balance_mismatch_since = fields.TimeField(allow_null=True)
    bank_provider_a_account = ProviderAccount(allow_null=True)
    created_user_id = fields.TextField(allow_null=True)

    def to_representation(self, instance: Any) -> Any:
        """Return numbers for those stored as texts, because a float does not keep all their digits."""
        connection = super().to_representation(instance)
        reported_balances = connection["balanceMismatchReportedBalances"]
        if reported_balances:
            connection["balanceMismatchReportedBalances"] = [
                parse_stored_number(balance) for balance in reported_balances
            ]
        calculated_balance = connection["balanceMismatchCalculatedBalance"]
        connection["balanceMismatchCalculatedBalance"] = parse_stored_number(calculated_balance)
        return connection


def parse_stored_number(stored_value: Any) -> Any:
    """Return a number that is stored as text, because a float would not keep all its digits."""
    return fields.to_json_number(Decimal(stored_value)) if isinstance(stored_value, str) else stored_value


MAX_IMPORT_SETTINGS_CHARACTERS = 16 * 1024  # each account in a list response includes them


def nest_setting_errors(name: str, faults: Iterable[SettingFault]) -> dict[str, Any]:
    """The faults of settings below a member, as serializers tell errors of nested fields."""
    nested: dict[str, Any] = {}
    for fault in faults:
        *outer, last = map(str, (name, *fault.path))
        part = nested
        for key in outer:
            part = part.setdefault(key, {})
        part[last] = [ErrorDetail(fault.detail, code=fault.code)]
    return nested


class ImportSettings(serializers.Serializer):
    """How files of the account are read.

    Settings of `csv`, detected where omitted:

    - `columns`: heading, or position from 0, of `date`, `valueDate`, `amount` (or `debit` and `credit`), `direction`,
      `balance` (after a row), `balanceBefore`, `balanceDirection` (debit or credit), `fee`, `currency`, `counterparty`,
      `counterpartyAccount`, `description` (several), `reference`, `status`, `account`, `category`, `notes`; null where
      there is none.
    - `directionValues`: values of `direction` that mean money `in` or `out`, or rows to `leaveOut`.
    - `statusValues`: values of `status` that are `booked`, `pending`, or to `leaveOut`.
    - `accountValues`, `otherAccountValues`: values of `account`, or titles of sections, to import and to leave out.
      You are asked about others.
    - `encoding`, `separator`: such as `windows-1250` and `;`.
    - `decimalMark`: `point` or `comma`. `dateOrder`: `iso`, `dayFirst` or `monthFirst`.
    - `skipAbove`, `skipBelow`: lines before the headings, and rows after the last transaction.
    - `flipSign`: true if amounts without a minus are money out.
    - `currency`: currency of amounts with an ambiguous symbol, such as `$`, or without one.
    - `minusMeans`: a minus with a `direction` `repeats` it, `reverses` it, or `decides` alone. In `debit` and `credit`
      columns it `repeats` (amounts without a minus are reversed) or `reverses`.
    - `signFromBalance`: true if signs follow from changes of the balance; with `flipSign` the balance is the amount
      owed.
    - `unprovenSign`: `in` or `out`, the sign of a last row that no balance shows; never saved.
    """

    sparse = True
    csv = fields.JsonField(
        required=False, allow_null=True, help_text="How CSV files are read; omitted settings are detected."
    )

    def to_internal_value(self, data: Any) -> Any:
        """Keep the whole object, unknown members too: each integration has its own settings."""
        super().to_internal_value(data)
        import_settings = fields.JsonField().run_validation(data)
        faults = [
            fault for fault in list_setting_faults(import_settings.get("csv") or {}) if not is_unknown_setting(fault)
        ]
        if faults:
            raise serializers.ValidationError(nest_setting_errors("csv", faults))
        if len(json.dumps(import_settings)) > MAX_IMPORT_SETTINGS_CHARACTERS:
            raise serializers.ValidationError(_("Must be at most 16 KiB."), code="too_long")
        return import_settings

    def to_representation(self, instance: Any) -> Any:
        return instance


WRITABLE_FIELDS = (
    "type",
    "name",
    *(text.column for text in ACCOUNT_TEXTS),
    "include_in_cash_balance",
    "account_group_id",
    "expected_annual_return",
    "order",
    "default_currency",
    "default_category_id",
    "import_type",
    "transit_currency",
    "import_settings",
)


class AccountSerializer(StrictModelSerializer):
    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=200)
    account_group_id = fields.IdField(allow_null=True, required=False)
    default_category_id = fields.IdField(allow_null=True, required=False)
    default_currency = CurrencyField(required=False, help_text="ISO 4217; the base currency if left out.")
    transit_currency = CurrencyField(allow_null=True, required=False)
    include_in_cash_balance = fields.BooleanField(
        required=False, help_text="Whether the account counts as cash; by default true for bank and cash accounts."
    )
    expected_annual_return = fields.OrderField(allow_null=True, required=False)
    order = fields.OrderField(required=False)
    import_settings = ImportSettings(allow_null=True, required=False)
    bank_connection = BankConnection(read_only=True, allow_null=True)

    class Meta:
        model = Account
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            *WRITABLE_FIELDS,
            "archived",
            "bank_connection",
            *AUDIT_FIELDS,
        )
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", "archived", *AUDIT_FIELDS)
        extra_kwargs: ClassVar[dict[str, Any]] = {text.column: text.serializer_options for text in ACCOUNT_TEXTS}


class Integration(StrictSerializer):
    id = fields.TextField(allow_null=True)
    type = fields.TextField(allow_null=True)
    status = fields.TextField(allow_null=True)


class AccountListItem(AccountSerializer):
    integration = serializers.SerializerMethodField(help_text="Integration that manages the account; null if none.")

    class Meta(AccountSerializer.Meta):
        fields: ClassVar[tuple[str, ...]] = (*AccountSerializer.Meta.fields, "integration")

    @extend_schema_field(Integration(allow_null=True))
    def get_integration(self, account: Account) -> dict[str, Any] | None:
        connection = account.bank_connection
        if not connection or not connection.get("integrationId"):
            return None
        return {"id": connection["integrationId"], "type": connection.get("type"), "status": connection.get("status")}


class GroupMoveRequest(StrictSerializer):
    account_group_id = fields.IdField(allow_null=True, help_text="New group; null removes it from its group.")


class InitialBalance(StrictSerializer):
    date = fields.DateField()
    amount_value = AmountField(help_text="Balance as a decimal string, in the account's currency.")

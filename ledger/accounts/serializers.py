"""Accounts and account groups."""

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from companies.api import fields
from companies.api.serializers import AUDIT, RowShape, Shape, StoredShape
from ledger.calc.csv_settings import SettingFault, is_unknown_setting, list_setting_faults
from ledger.models import Account, AccountGroup
from ledger.money.fields import AmountField, CurrencyField

CONNECTION_STATUSES = ["active", "syncing", "expiring", "expired", "reauthRequired", "error", "disconnected"]


class Institution(StoredShape):
    id = fields.WholeField(allow_null=True)
    name = fields.TextField(allow_null=True)
    bic = fields.TextField(allow_null=True)
    logo_stored = fields.FlagField(allow_null=True)


class ProviderAccount(StoredShape):
    id = fields.WholeField(allow_null=True)
    iban = fields.TextField(allow_null=True)
    account_holder_name = fields.TextField(allow_null=True)
    institution = Institution(allow_null=True)


class BankConnection(StoredShape):
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
        """Return numbers for numbers that are stored as texts, because a float has not all their digits."""
        connection = super().to_representation(instance)
        reported = connection["balanceMismatchReportedBalances"]
        if reported:
            connection["balanceMismatchReportedBalances"] = [parse_number(balance) for balance in reported]
        calculated = connection["balanceMismatchCalculatedBalance"]
        connection["balanceMismatchCalculatedBalance"] = parse_number(calculated)
        return connection


def parse_number(stored: Any) -> Any:
    return fields.number(Decimal(stored)) if isinstance(stored, str) else stored


LONGEST_SETTINGS = 16 * 1024  # every list of accounts carries them


CSV_SETTINGS = (
    "how this account's CSV files are read; what is left out is detected. `columns`: the heading, or the position from"
    " 0, of `date`, `valueDate`, `amount`, `debit`, `credit`, `direction`, `balance`, `balanceBefore`, `fee`,"
    " `currency`, `counterparty`, `counterpartyAccount`, `description` (a list), `reference`, `status`, `account`,"
    " `category`, `notes`; null where there is none. `directionValues` {in, out}, `statusValues` {booked, pending,"
    " leaveOut}, `accountValues` (of rows that are imported), `encoding`, `separator`, `decimalMark` (`point`,"
    " `comma`), `dateOrder` (`iso`, `dayFirst`, `monthFirst`), `skipAbove` and `skipBelow` (lines), `flipSign` (true"
    " where money out has no minus), `minusMeans` {debit, credit, direction} (`repeats` or `reverses` the direction of"
    " its column, or `decides` alone), `signFromBalance` (true where the balance column tells the signs),"
    " `unprovenSign` (`in` or `out`: the row whose sign no balance shows), `currency` (of amounts whose sign, such as"
    " $, may mean several, or that have none)"
)


def nest_faults(name: str, faults: Iterable[SettingFault]) -> dict[str, Any]:
    """The faults of settings below a member, as serializers tell errors of nested fields."""
    nested: dict[str, Any] = {}
    for fault in faults:
        *outer, last = map(str, (name, *fault.path))
        part = nested
        for each in outer:
            part = part.setdefault(each, {})
        part[last] = [ErrorDetail(fault.detail, code=fault.code)]
    return nested


class ImportSettings(serializers.Serializer):
    sparse = True
    csv = fields.JsonField(required=False, allow_null=True, help_text=CSV_SETTINGS)

    def to_internal_value(self, data: Any) -> Any:
        """Whole, whatever stands beside ``csv``: each integration has its own words."""
        super().to_internal_value(data)
        found = fields.JsonField().run_validation(data)
        faults = [fault for fault in list_setting_faults(found.get("csv") or {}) if not is_unknown_setting(fault)]
        if faults:
            raise serializers.ValidationError(nest_faults("csv", faults))
        if len(json.dumps(found)) > LONGEST_SETTINGS:
            raise serializers.ValidationError(_("Must not be longer than 16 KiB."), code="too_long")
        return found

    def to_representation(self, instance: Any) -> Any:
        return instance


WRITABLE = (
    "type",
    "name",
    "account_number",
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


class AccountShape(RowShape):
    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=200)
    account_group_id = fields.IdField(allow_null=True, required=False)
    default_category_id = fields.IdField(allow_null=True, required=False)
    default_currency = CurrencyField(required=False, help_text="the company's base currency where it is left out")
    transit_currency = CurrencyField(allow_null=True, required=False)
    include_in_cash_balance = fields.FlagField(
        required=False, help_text="follows the type, true for bank and cash accounts, until it is changed"
    )
    expected_annual_return = fields.OrderField(allow_null=True, required=False)
    order = fields.OrderField(required=False)
    import_settings = ImportSettings(allow_null=True, required=False)
    bank_connection = BankConnection(read_only=True, allow_null=True)

    class Meta:
        model = Account
        fields: ClassVar[tuple[str, ...]] = ("id", "company_id", *WRITABLE, "archived", "bank_connection", *AUDIT)
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", "archived", *AUDIT)


class Integration(Shape):
    id = fields.TextField(allow_null=True)
    type = fields.TextField(allow_null=True)
    status = fields.TextField(allow_null=True)


class AccountListItem(AccountShape):
    integration = serializers.SerializerMethodField(help_text="what manages the account, or null")

    class Meta(AccountShape.Meta):
        fields: ClassVar[tuple[str, ...]] = (*AccountShape.Meta.fields, "integration")

    @extend_schema_field(Integration(allow_null=True))
    def get_integration(self, account: Account) -> dict[str, Any] | None:
        connection = account.bank_connection
        if not connection or not connection.get("integrationId"):
            return None
        return {"id": connection["integrationId"], "type": connection.get("type"), "status": connection.get("status")}


class GroupMove(Shape):
    account_group_id = fields.IdField(allow_null=True, help_text="null takes the account out of its group")


class AccountGroupShape(RowShape):
    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=200)
    order = fields.OrderField(required=False)

    class Meta:
        model = AccountGroup
        fields = ("id", "company_id", "name", "archived", "order", *AUDIT)
        read_only_fields = ("id", *AUDIT)


class InitialBalance(Shape):
    date = fields.DayField()
    amount_value = AmountField(help_text="in the account's currency")

"""Serializers of companies, members, API keys and the audit log."""

import re
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar

from django.core.exceptions import ValidationError as DjangoValidationError
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.actions.sandboxes import DEFAULT_DAYS, MAX_DAYS
from companies.api import fields
from companies.api.camel_case import to_camel_case_keys
from companies.api.serializers import AUDIT_FIELDS, StoredJsonSerializer, StrictModelSerializer, StrictSerializer
from companies.models import MAX_ENTITY_ID_LENGTH, ApiKey, AuditEntry, Company, Currency, Membership, MembershipStatus
from companies.permissions import Permission, Role, sort_permissions
from companies.time_zones import INVALID_TIME_ZONE, MAX_TIME_ZONE_LENGTH, UTC_NAME, check_time_zone


class Price(StrictSerializer):
    value = fields.NumberField()
    currency = fields.TextField()


class Limits(StoredJsonSerializer):
    minARR = fields.NumberField(allow_null=True)  # noqa: N815 - the contract's spelling
    maxARR = fields.NumberField(allow_null=True)  # noqa: N815


class PaidSubscription(StoredJsonSerializer):
    id = fields.TextField(allow_null=True)
    status = fields.TextField(allow_null=True)
    product_name = fields.TextField(allow_null=True)
    interval = fields.TextField(allow_null=True)
    current_period_start = fields.TextField(allow_null=True)
    current_period_end = fields.TextField(allow_null=True)
    price = Price(allow_null=True)
    cancel_at = fields.TextField(allow_null=True)
    limits = Limits(allow_null=True)


class PaymentProvider(StoredJsonSerializer):
    customer_id = fields.TextField(allow_null=True)
    subscription = PaidSubscription(allow_null=True)


@extend_schema_field({"type": "string", "format": "hostname", "maxLength": 253})
class DomainField(fields.TextField):
    """A host name in lower case; international names in ASCII form."""

    default_error_messages = {"invalid": gettext_lazy("Must be a domain such as example.com.")}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if len(text) > 253 or not DOMAIN_PATTERN.fullmatch(text):
            self.fail("invalid")
        return text


class StandardTaxField(fields.NumberField):
    """The standard VAT rate of a company in percent."""

    def __init__(self) -> None:
        super().__init__(minimum=Decimal(0), maximum=Decimal(100), max_decimals=4, allow_null=True, required=False)


@extend_schema_field({"type": "string", "maxLength": MAX_TIME_ZONE_LENGTH, "examples": ["Europe/Berlin"]})
class TimeZoneField(fields.TextField):
    """The name of a time zone in the IANA database, in its own letters."""

    default_error_messages = {"invalid_choice": INVALID_TIME_ZONE}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_choice")
        try:
            check_time_zone(data)
        except DjangoValidationError:
            self.fail("invalid_choice")
        return data


class SandboxDayField(fields.DateField):
    """The day that is today in a sandbox, with room for the periods before and after it."""

    default_error_messages = {"out_of_range": gettext_lazy("Must be a date from 1970 to 2100.")}

    def to_internal_value(self, data: Any) -> date:
        day = super().to_internal_value(data)
        if not 1970 <= day.year <= 2100:
            self.fail("out_of_range")
        return day


DOMAIN_PATTERN = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+([a-z]{2,63}|xn--[a-z0-9-]{1,59})")
SYSTEM_FIELDS = (
    "closed_through",
    "last_overall_updated_time",
    "system_status",
    "system_trial_until",
    "system_expired_at",
    "system_deletion_warning",
    "system_sandbox_expire_time",
    "system_deletion_scheduled_time",
    "system_payment_provider",
    "system_tier_overage_since",
    "computed_committed_mrr_eur",
    "computed_active_customer_count",
    "computed_metrics_time",
)
WRITABLE_FIELDS = (
    "name",
    "base_currency",
    "time_zone",
    "domain",
    "pl_show_planning_percentage_for_past_months",
    "pl_show_all_categories",
    "pl_recognize_revenue_on_invoice",
    "auto_categorize",
    "require_second_factor",
    "data_start_date",
    "standard_tax_percent",
    "test_today",
    "valuation_category",
    "valuation_lens",
)


class CompanySerializer(StrictModelSerializer):
    system_payment_provider = PaymentProvider(read_only=True, allow_null=True, help_text="Payment provider's data.")
    computed_committed_mrr_eur = serializers.DecimalField(
        max_digits=30, decimal_places=2, read_only=True, allow_null=True, coerce_to_string=True
    )
    name = fields.NameField(max_length=200)
    domain = DomainField(allow_null=True, required=False, help_text="Website domain, such as example.com.")
    time_zone = TimeZoneField(required=False)
    test_today = SandboxDayField(allow_null=True, required=False)
    standard_tax_percent = StandardTaxField()

    class Meta:
        model = Company
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "datastore_id",
            *WRITABLE_FIELDS,
            "custom_logo_path",
            *SYSTEM_FIELDS,
            *AUDIT_FIELDS,
        )
        read_only_fields: ClassVar[tuple[str, ...]] = (
            "id",
            "datastore_id",
            "custom_logo_path",
            *SYSTEM_FIELDS,
            *AUDIT_FIELDS,
        )


class NewCompany(StrictSerializer):
    name = fields.NameField(max_length=200)
    base_currency = fields.CurrencyField(default=Currency.EUR)
    domain = DomainField(allow_null=True, required=False)
    time_zone = TimeZoneField(default=UTC_NAME)
    standard_tax_percent = StandardTaxField()


class NewSandbox(StrictSerializer):
    name = fields.NameField(max_length=200)
    expires_in_days = fields.IntegerField(
        min_value=1,
        max_value=MAX_DAYS,
        default=DEFAULT_DAYS,
        help_text=f"Days until the sandbox is deleted, 1 to {MAX_DAYS}.",
    )


class PermissionList(fields.ListField):
    """Permissions, each once, in the order of the enumeration."""

    child = fields.ChoiceField(choices=[p.value for p in Permission])

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MAX_PERMISSIONS, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list):
            self.fail("not_a_list", input_type=type(data).__name__)
        return sort_permissions(Permission(value) for value in super().to_internal_value(data))


CALLER_ROLES = [*(role.value for role in Role), "apiKey", "app"]
MAX_PERMISSIONS = 100  # permissions, duplicates included


class CompanyListItem(CompanySerializer):
    """A company with the caller's role and effective permissions.

    Without the permission `company:read`, computed and system fields are null."""

    role = fields.ChoiceField(choices=CALLER_ROLES, read_only=True, help_text="Your role, or apiKey or app.")
    permissions = PermissionList(read_only=True)

    class Meta(CompanySerializer.Meta):
        fields = (
            *(name for name in CompanySerializer.Meta.fields if name not in {"domain", "custom_logo_path"}),
            "role",
            "permissions",
        )
        read_only_fields = fields

    domain = None  # type: ignore[assignment]

    def to_representation(self, access: Any) -> dict[str, Any]:  # of an Access
        company = access.company
        company.role, company.permissions = access.role, sort_permissions(access.permissions)
        answer: dict[str, Any] = super().to_representation(company)
        if Permission.COMPANY_READ not in access.permissions:
            answer |= {
                str(f.field_name): None for f in self._readable_fields if f.source in SYSTEM_FIELDS and f.allow_null
            }
        return answer


class LogoUpload(StrictSerializer):
    image_base64 = fields.TextField(
        min_length=1, max_length=699_052, help_text="Base64 of a PNG of at most 4096 × 4096 pixels."
    )  # service.md, part 8


class MemberSerializer(StrictModelSerializer):
    user_id = serializers.UUIDField(
        source="shown_user_id", read_only=True, allow_null=True, help_text="User id; null if invited."
    )
    email = serializers.EmailField(source="shown_email", read_only=True)
    name = fields.TextField(
        source="shown_name",
        read_only=True,
        allow_null=True,
        max_length=200,
        help_text="Name; null if not set or until the invitation is accepted.",
    )
    permissions = PermissionList(allow_null=True, read_only=True, help_text="Custom permissions; null for the role's.")
    status = fields.ChoiceField(
        choices=MembershipStatus.values,
        read_only=True,
        help_text="Membership status; an invited member has no access yet.",
    )
    joined_time = fields.TimeField(read_only=True, allow_null=True, help_text="Time when they joined; null if invited.")
    expires_time = fields.TimeField(read_only=True, allow_null=True, help_text="Invitation expiry; null once joined.")
    company_id = serializers.UUIDField(read_only=True)

    class Meta:
        model = Membership
        fields = (
            "id", "company_id", "user_id", "email", "name", "role", "permissions", "status", "joined_time",
            "expires_time", *AUDIT_FIELDS,
        )  # fmt: skip


class MemberInput(StrictSerializer):
    role = fields.ChoiceField(choices=[r.value for r in Role])
    permissions = PermissionList(allow_null=True, required=False, default=None)


class NewMember(MemberInput):
    email = fields.EmailField(max_length=254)


class ApiKeySerializer(StrictModelSerializer):
    company_id = serializers.UUIDField(read_only=True)
    permissions = PermissionList()

    class Meta:
        model = ApiKey
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            "name",
            "permissions",
            "last_four",
            "expires_time",
            "last_used_time",
            "revoked_time",
            *AUDIT_FIELDS,
        )


class NewApiKey(StrictSerializer):
    name = fields.NameField(max_length=200)
    permissions = PermissionList(allow_empty=False)
    expires_time = fields.TimeField(allow_null=True, required=False, default=None)


class CreatedApiKey(ApiKeySerializer):
    key = fields.TextField(read_only=True, max_length=76, help_text="The full API key; returned only once.")

    class Meta(ApiKeySerializer.Meta):
        fields = (*ApiKeySerializer.Meta.fields, "key")


class AuditEntrySerializer(StrictModelSerializer):
    entity_id = fields.TextField(
        allow_null=True, max_length=MAX_ENTITY_ID_LENGTH, help_text="Id of the changed row; null for several rows."
    )

    class Meta:
        model = AuditEntry
        fields = ("id", "time", "actor", "action", "entity_type", "entity_id", "request_id", "before", "after")

    def to_representation(self, instance: AuditEntry) -> dict[str, Any]:
        data = super().to_representation(instance)
        return data | {
            "entityId": instance.entity_id or None,
            "before": to_camel_case_keys(instance.before),
            "after": to_camel_case_keys(instance.after),
        }


class FeedEventSerializer(StrictModelSerializer):
    """An audit log entry without the changed values."""

    type = fields.TextField(source="action", help_text="Event type, such as transaction.created.")
    entity_id = fields.TextField(
        allow_null=True, max_length=MAX_ENTITY_ID_LENGTH, help_text="Id of the changed row; null for several rows."
    )

    class Meta:
        model = AuditEntry
        fields = ("id", "type", "time", "entity_type", "entity_id", "actor", "request_id")

    def to_representation(self, instance: AuditEntry) -> dict[str, Any]:
        return super().to_representation(instance) | {"entityId": instance.entity_id or None}

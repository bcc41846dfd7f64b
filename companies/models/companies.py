"""The company, the tenant of all data."""

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q

from companies.models.audit_context import Audited
from companies.models.tenancy import generate_id
from companies.time_zones import MAX_TIME_ZONE_LENGTH, UTC_NAME, check_time_zone

# Larger than any numeric(19, 4) amount; NaN is larger still.
AMOUNT_UPPER_BOUND = 10**15


def build_amount_condition(field: str) -> models.Q:
    """Build the check condition of an amount column: rejects NaN and values that are too large."""
    return models.Q(**{f"{field}__lt": AMOUNT_UPPER_BOUND})


class Currency(models.TextChoices):
    """The euro and the 29 currencies with a rate of the European Central Bank."""

    EUR = "EUR", "EUR"
    AUD = "AUD", "AUD"
    BRL = "BRL", "BRL"
    CAD = "CAD", "CAD"
    CHF = "CHF", "CHF"
    CNY = "CNY", "CNY"
    CZK = "CZK", "CZK"
    DKK = "DKK", "DKK"
    GBP = "GBP", "GBP"
    HKD = "HKD", "HKD"
    HUF = "HUF", "HUF"
    IDR = "IDR", "IDR"
    ILS = "ILS", "ILS"
    INR = "INR", "INR"
    ISK = "ISK", "ISK"
    JPY = "JPY", "JPY"
    KRW = "KRW", "KRW"
    MXN = "MXN", "MXN"
    MYR = "MYR", "MYR"
    NOK = "NOK", "NOK"
    NZD = "NZD", "NZD"
    PHP = "PHP", "PHP"
    PLN = "PLN", "PLN"
    RON = "RON", "RON"
    SEK = "SEK", "SEK"
    SGD = "SGD", "SGD"
    THB = "THB", "THB"
    TRY = "TRY", "TRY"
    USD = "USD", "USD"
    ZAR = "ZAR", "ZAR"


class SystemStatus(models.TextChoices):
    SANDBOX = "sandbox"
    TRIAL = "trial"
    FREE = "free"
    PAID = "paid"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    BETA = "beta"


# Allowed status transitions; staff change the status in the admin.
STATUS_TRANSITIONS: dict[str, frozenset[str]] = {
    SystemStatus.SANDBOX: frozenset({SystemStatus.TRIAL}),
    SystemStatus.TRIAL: frozenset({SystemStatus.FREE, SystemStatus.PAID, SystemStatus.EXPIRED}),
    SystemStatus.FREE: frozenset({SystemStatus.PAID}),
    SystemStatus.PAID: frozenset({SystemStatus.CANCELLED}),
    SystemStatus.CANCELLED: frozenset({SystemStatus.PAID, SystemStatus.EXPIRED}),
    SystemStatus.EXPIRED: frozenset({SystemStatus.PAID}),
    SystemStatus.BETA: frozenset({SystemStatus.FREE, SystemStatus.PAID}),
}


READ_ONLY_STATUSES = {SystemStatus.EXPIRED, SystemStatus.CANCELLED}  # data can be read but not written


class ValuationCategory(models.TextChoices):
    TRADITIONAL = "traditional"
    AI_ENHANCED = "aiEnhanced"
    AI_NATIVE = "aiNative"


class ValuationLens(models.TextChoices):
    FUNDRAISING = "fundraising"
    ACQUISITION = "acquisition"


class CompanyQuerySet(models.QuerySet["Company"]):
    def touch(self, company_id: UUID, now: datetime) -> None:
        """Set lastOverallUpdatedTime, at most once a second, so that writers do not queue for the row."""
        second = now.replace(microsecond=0)
        self.filter(id=company_id, last_overall_updated_time__lt=second).update(last_overall_updated_time=now)


class Company(Audited):
    id = models.UUIDField(primary_key=True, default=generate_id, editable=False)
    datastore_id = models.CharField(max_length=64, null=True)  # noqa: DJ001 - null on the wire
    name = models.CharField(max_length=200)
    base_currency = models.CharField(max_length=3, choices=Currency, default=Currency.EUR)
    time_zone = models.CharField(max_length=MAX_TIME_ZONE_LENGTH, default=UTC_NAME, validators=[check_time_zone])
    domain = models.CharField(max_length=253, null=True)  # noqa: DJ001
    custom_logo_path = models.CharField(max_length=200, null=True)  # noqa: DJ001
    site_logo_path = models.CharField(max_length=200, null=True, editable=False)  # noqa: DJ001
    site_logo_domain = models.CharField(max_length=253, null=True, editable=False)  # noqa: DJ001 - where it is from
    site_logo_time = models.DateTimeField(null=True, editable=False)  # of the last attempt
    last_overall_updated_time = models.DateTimeField()
    pl_show_planning_percentage_for_past_months = models.BooleanField(default=False)
    pl_show_all_categories = models.BooleanField(default=False)
    pl_recognize_revenue_on_invoice = models.BooleanField(default=False)
    auto_categorize = models.BooleanField(default=False)  # by history, if it is unambiguous
    require_second_factor = models.BooleanField(default=False)  # of members; API keys are not affected
    data_start_date = models.DateField(null=True)
    # VAT suggested for payments that usually include it: 0 suggests none, null is not answered.
    standard_tax_percent = models.DecimalField(max_digits=7, decimal_places=4, null=True)
    test_today = models.DateField(null=True)  # the day that is today, in a sandbox; null for the clock's
    # Both are derived from the closings by triggers and written by nothing else (ledger.models.closings).
    closed_through = models.DateField(null=True, editable=False)  # the last closed day
    reported_through = models.DateField(null=True, editable=False)  # the last day of any month that was ever closed
    valuation_category = models.CharField(max_length=20, choices=ValuationCategory, null=True)  # noqa: DJ001
    valuation_lens = models.CharField(max_length=20, choices=ValuationLens, null=True)  # noqa: DJ001
    system_status = models.CharField(max_length=20, choices=SystemStatus, default=SystemStatus.TRIAL)
    system_trial_until = models.DateTimeField(null=True, blank=True)
    system_expired_at = models.DateTimeField(null=True, blank=True)
    system_deletion_warning = models.IntegerField(null=True, blank=True)
    system_sandbox_expire_time = models.DateTimeField(null=True, blank=True)
    system_deletion_scheduled_time = models.DateTimeField(null=True, blank=True)
    system_payment_provider = models.JSONField(null=True, blank=True)
    system_tier_overage_since = models.DateTimeField(null=True, blank=True)
    first_hour_over = models.BooleanField(default=False, editable=False)  # onboarding on the overview is finished
    copied_company_id = models.UUIDField(null=True, editable=False)  # of which a sandbox is a copy
    demonstration = models.JSONField(null=True, editable=False)  # extent of a demo company's data; null otherwise
    computed_committed_mrr_eur = models.DecimalField(max_digits=30, decimal_places=2, null=True)
    computed_active_customer_count = models.IntegerField(null=True)
    computed_metrics_time = models.DateTimeField(null=True)

    objects = CompanyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "companies"
        constraints = [
            models.CheckConstraint(condition=Q(base_currency__in=Currency.values), name="company_base_currency_known"),
            models.CheckConstraint(condition=Q(system_status__in=SystemStatus.values), name="company_status_known"),
            models.CheckConstraint(
                condition=Q(valuation_category__in=ValuationCategory.values), name="company_valuation_category_known"
            ),
            models.CheckConstraint(
                condition=Q(valuation_lens__in=ValuationLens.values), name="company_valuation_lens_known"
            ),
            models.CheckConstraint(
                condition=Q(standard_tax_percent__range=(0, 100)), name="company_standard_tax_percent_in_range"
            ),
            models.CheckConstraint(
                condition=Q(test_today=None) | Q(system_status=SystemStatus.SANDBOX),
                name="company_test_today_in_sandbox",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def company_id(self) -> UUID:
        """The company whose audit log its changes are written to: itself."""
        return self.id

    @property
    def logo_path(self) -> str | None:
        """Path of the logo to show: the company's own, otherwise that of its website; None for the letter mark."""
        if self.custom_logo_path or not settings.LOGOS_FROM_DOMAINS or self.site_logo_domain != self.domain:
            return self.custom_logo_path
        return self.site_logo_path

    @property
    def is_sandbox(self) -> bool:
        """Whether this is a copy to try things out, which nothing leaves and which is deleted after its time."""
        return self.system_status == SystemStatus.SANDBOX

    @property
    def read_only(self) -> bool:
        return self.system_status in READ_ONLY_STATUSES

    @property
    def unversioned_values(self) -> str:
        """Values shown with the company that are not its own facts; a cached response is stale when they change."""
        return f"{self.last_overall_updated_time} {self.computed_metrics_time}"

"""Closed months: their frozen figures in a chain of digests, reopenings, and changes of reported figures.

Closings and reopenings are append-only: triggers refuse UPDATE, DELETE and TRUNCATE, except for companies that may be
emptied (demonstration, sandbox). Another trigger derives ``Company.closed_through`` from them.
"""

from datetime import datetime
from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef

from companies.models import AuditEntry, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet
from ledger.models.derived_tables import BASE_TOTAL_DIGITS

MAX_REASON_LENGTH = 500
CONTENT_COLUMNS = ("figures", "plan", "report_figures")  # of a closing: large, and deferred where they are not needed


class ClosingQuerySet(CompanyOwnedQuerySet["Closing"]):
    def latest_versions(self) -> Self:
        """The latest version of each month, latest month first."""
        return self.order_by("-month", "-version").distinct("month")

    def not_reopened(self, company_id: UUID) -> Self:
        """Closings that are not reopened."""
        reopened = Reopening.objects.for_company(company_id).filter(closing_id=OuterRef("id"))
        return self.for_company(company_id).filter(~Exists(reopened))


class Closing(CompanyOwned):
    """One closing of a month. ``figures`` are what was reported: objects of the API with ``value`` as text.

    ``number`` counts the company's closings in the order in which they were stored; it is the place in the chain.
    ``plan``, ``report_figures`` and ``acknowledged_checks`` are no part of the digest.
    """

    month = models.DateField()  # its first day
    version = models.BigIntegerField()
    number = models.BigIntegerField()
    note = models.TextField(null=True)  # noqa: DJ001 - null on the wire
    figures = models.JSONField()
    digest = models.CharField(max_length=64)
    previous_digest = models.CharField(max_length=64, null=True)  # noqa: DJ001
    log_number = models.BigIntegerField()  # of the company's last audit entry before the closing
    rates_version = models.BigIntegerField()  # of the exchange rates by which the figures were converted
    plan = models.JSONField(null=True)  # of the month's calendar year; null where it was not stored
    report_figures = models.JSONField(null=True)  # cash, invoices; null where not stored
    acknowledged_checks = models.JSONField(null=True)  # checks of the API that failed; null where they were not stored
    created_time = models.DateTimeField()
    created_user_id = models.CharField(max_length=64, null=True)  # noqa: DJ001

    reopening: "Reopening | None" = None  # which queries attach

    objects = ClosingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "month", "version"], name="closing_version_once"),
            models.UniqueConstraint(fields=["company", "number"], name="closing_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} · {self.version}"

    @property
    def status(self) -> str:
        return "reopened" if self.reopening else "closed"

    @property
    def reopened_time(self) -> datetime | None:
        return self.reopening.created_time if self.reopening else None

    @property
    def reopened_user_id(self) -> str | None:
        return self.reopening.created_user_id if self.reopening else None

    @property
    def reopen_reason(self) -> str | None:
        return self.reopening.reason if self.reopening else None

    @property
    def last_updated_time(self) -> datetime:
        """A closing changes once, when it is reopened."""
        return self.reopened_time or self.created_time


class Reopening(CompanyOwned):
    """A closed month was reopened."""

    closing = CompanyForeignKey(Closing)
    reason = models.TextField()
    created_time = models.DateTimeField()
    created_user_id = models.CharField(max_length=64, null=True)  # noqa: DJ001

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "closing"], name="closing_reopened_once")]

    def __str__(self) -> str:
        return f"{self.closing_id}: {self.reason}"


class FigureChange(CompanyOwned):
    """Derived: a change touched a figure of a month that was ever closed, and what the derived row said before.

    ``token`` names the change; ``ChangeEntry`` names its audit entries. Triggers write a row for the first touch of a
    change and delete it again where nothing differs in the end. ``kind`` is the table: day (account, currency), month
    (account, currency), result (category, P&L line), event (subscription), account (whether it is a transit account).
    """

    token = models.CharField(max_length=64)
    kind = models.CharField(max_length=10)
    subject_id = models.UUIDField()
    label = models.CharField(max_length=20)
    day = models.DateField()
    amount = models.DecimalField(max_digits=BASE_TOTAL_DIGITS, decimal_places=10, null=True)
    inflow = models.DecimalField(max_digits=BASE_TOTAL_DIGITS, decimal_places=10, null=True)
    outflow = models.DecimalField(max_digits=BASE_TOTAL_DIGITS, decimal_places=10, null=True)
    rates = models.BooleanField(default=False)  # exchange rates did it

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["company", "token", "kind", "subject_id", "label", "day"], name="figure_change_once"
            )
        ]
        indexes = [models.Index(fields=["company", "kind", "day"], name="figure_change_by_day")]

    def __str__(self) -> str:
        return f"{self.kind} {self.label} {self.day}"


class ChangeEntry(CompanyOwned):
    """An audit entry of a change that touched figures of reported months."""

    token = models.CharField(max_length=64)
    entry = CompanyForeignKey(AuditEntry, when_deleted="stays")
    number = models.BigIntegerField()  # of the entry, in the order of commits

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "token"], name="change_entry_by_token")]

    def __str__(self) -> str:
        return f"{self.entry_id} of {self.token}"

"""Facts of monthly reports: the commentary on a month, and links that show a report without sign-in."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models

from companies.models import Audited, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet
from ledger.models.closings import Closing

MAX_COMMENTARY_LENGTH = 20_000


class ReportCommentary(CompanyOwned, Audited):
    """The commentary on a month's report, as plain text."""

    month = models.DateField()  # its first day
    text = models.TextField()

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "month"], name="report_commentary_once")]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m}"


class ReportLinkQuerySet(CompanyOwnedQuerySet["ReportLink"]):
    def active(self, now: datetime) -> Self:
        return self.filter(expires_time__gt=now)

    def newest_first(self) -> Self:
        return self.order_by("-id")


class ReportLink(CompanyOwned, Audited):
    """A link to the report of a month, or to the figures of one of its closings. A revoked link is deleted.

    ``permissions`` are those of its creator that the report depends on: the report shows no more than they could see.
    """

    month = models.DateField()  # its first day
    closing = CompanyForeignKey(Closing, null=True)
    permissions = ArrayField(models.CharField(max_length=40))
    digest = models.CharField(max_length=64)  # of its token, which is not stored
    expires_time = models.DateTimeField()

    objects = ReportLinkQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "digest"], name="report_link_once")]
        indexes = [models.Index(fields=["company", "month"], name="report_link_by_month")]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} – {self.expires_time:%Y-%m-%d}"

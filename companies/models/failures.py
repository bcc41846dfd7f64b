"""Requests that failed on our side, for staff who are asked about them: the latest of each company."""

from typing import Self

from django.db import models

from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet


class FailedRequestQuerySet(CompanyOwnedQuerySet["FailedRequest"]):
    def latest_first(self) -> Self:
        return self.order_by("-time", "-id")


class FailedRequest(CompanyOwned):
    """Which request, and what kind of error: nothing of what was sent, and of the error no text, for it may have some
    of that."""

    time = models.DateTimeField()
    request_id = models.CharField(max_length=64)
    method = models.CharField(max_length=8)
    path = models.CharField(max_length=200)
    status = models.PositiveSmallIntegerField()
    error = models.CharField(max_length=100)

    objects = FailedRequestQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "time"], name="failed_request_by_time")]

    def __str__(self) -> str:
        return f"{self.status} {self.method} {self.path}"

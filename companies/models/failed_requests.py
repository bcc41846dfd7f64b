"""Latest failed requests (5xx) of each company, for support."""

from typing import Self

from django.db import models

from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet


class FailedRequestQuerySet(CompanyOwnedQuerySet["FailedRequest"]):
    def latest_first(self) -> Self:
        return self.order_by("-time", "-id")


class FailedRequest(CompanyOwned):
    """A failed request: path, status and class of the error. The error's text is not stored, as it may contain
    user data.
    """

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

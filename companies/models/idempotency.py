"""Responses kept for a day, so that a retried request takes effect once."""

from django.db import models

from companies.models.tenancy import Unowned


class IdempotencyRecord(Unowned):
    credential = models.CharField(max_length=120)
    method = models.CharField(max_length=8)
    path = models.CharField(max_length=500)
    key = models.CharField(max_length=255)
    request_digest = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.BinaryField()
    created_time = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["credential", "method", "path", "key"], name="idempotency_key_once")
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.key}"

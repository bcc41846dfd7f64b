"""Rate limit counters."""

from django.db import models

from companies.models.tenancy import Unowned


class RateCounter(Unowned):
    """Count of one name in its current window. The table is unlogged: it is emptied when the database server
    crashes.
    """

    name = models.CharField(max_length=64, primary_key=True)  # a keyed digest
    window_number = models.BigIntegerField()
    count = models.BigIntegerField()
    expires_time = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.name[:8]} {self.count}"

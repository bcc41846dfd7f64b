"""The command that forgets what has expired."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from companies.models import IdempotencyRecord

pytestmark = pytest.mark.django_db


def test_prune_deletes_idempotency_records_after_a_day(capsys):
    now = datetime.now(tz=UTC)
    for hours in (23, 25):
        IdempotencyRecord.objects.create(
            credential="apiKey:x",
            method="POST",
            path="/companies",
            key=str(hours),
            request_digest=b"",
            status=201,
            body=b"{}",
            created_time=now - timedelta(hours=hours),
        )
    call_command("prune")
    assert [each.key for each in IdempotencyRecord.objects.all()] == ["23"]
    assert capsys.readouterr().out == "1 expired records deleted.\n"

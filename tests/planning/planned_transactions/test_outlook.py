"""The page of what comes next, of companies with many plans."""

from datetime import timedelta

import pytest

from planning.models import PlannedTransaction
from planning.planned_transactions.pages import outlook
from planning.planned_transactions.queries import occurrences
from tests.page_text import get_page_text
from tests.planning.planned_transactions.test_planned_transaction_pages import build_page_path
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


def plan_daily(company, audit_context, count, *, start):
    rows = [
        PlannedTransaction(
            company=company,
            name=f"p{n}",
            start_date=start,
            amount_value=-n - 1,
            amount_currency="EUR",
            frequency="day",
            source="api",
        ).mark_created(audit_context)
        for n in range(count)
    ]
    return PlannedTransaction.objects.bulk_create(rows)


def test_outlook_builds_only_the_shown_occurrences_of_many_rules(owner, acme, audit_context, monkeypatch):
    plan_daily(acme, audit_context, 100, start=TODAY - timedelta(days=100))
    built = []
    build = occurrences.build_planned_occurrence
    for module in (occurrences, outlook):
        monkeypatch.setattr(
            module, "build_planned_occurrence", lambda *given, **more: built.append(given) or build(*given, **more)
        )
    shown = get_page_text(owner.get(build_page_path(acme)))
    assert "5950 more overdue." in shown
    assert len(built) < 1000


def test_outlook_sorts_occurrences_by_date_including_overrides(owner, acme, api, audit_context):
    rows = plan_daily(acme, audit_context, 3, start=TODAY - timedelta(days=5))
    rule = f"planned_transactions/{rows[0].id}/overrides"
    api.put(f"{rule}/{TODAY - timedelta(days=5)}", {"skipped": True})
    api.put(f"{rule}/{TODAY - timedelta(days=4)}", {"date": str(TODAY + timedelta(days=2)), "name": "Moved"})
    api.put(f"{rule}/{TODAY}", {"name": "Today's"})
    answer = owner.get(build_page_path(acme))
    late, coming, done = (answer.context[name] for name in ("late", "coming", "done"))
    answers = [(str(each.expected.date - TODAY).split(",")[0], each.expected.name) for each in late]
    assert [name for _, name in answers] == ["p1", "p2", "p1", "p2"] + ["p0", "p1", "p2"] * 3
    assert [each.expected.name for each in coming[:10]] == [
        *("Today's", "p1", "p2", "p0", "p1", "p2", "Moved", "p0", "p1", "p2")
    ]
    assert [each.expected.original_date for each in done] == [TODAY - timedelta(days=5)]
    days = (outlook.get_outlook_window(TODAY)[1] - TODAY).days + 1
    assert len(coming) + answer.context["more"] == 3 * days + 1

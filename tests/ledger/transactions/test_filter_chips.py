"""Filters in use are told in words, never by ids."""

from uuid import uuid4

import pytest

from companies.permissions import Role
from ledger.models import ImportBatch
from tests import factories
from tests.ledger.conftest import get_page_text
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


@pytest.fixture
def chip(pages):
    """What the chip of a filter says."""

    def chip(pages=pages, **filters):
        chips = get_page_text(pages.get(**filters)).split("Active filters")[-1]
        assert not any(value in chips.split("Clear all filters")[0] for value in filters.values() if len(value) == 36)
        return chips

    return chip


def test_import_chip_shows_file_name_or_day(api, books, bank, chip, acme):
    items = [{"accountId": bank, "date": str(TODAY), "amountValue": "5.00"}]
    batch = api.post("transactions/import", {"transactions": items}).json()["importId"]
    day = f"{TODAY:%-d %b %Y}"
    assert f"Import: from {day}" in chip(importId=batch)
    ImportBatch.objects.for_company(acme.id).update(filename="march.csv")
    assert f"Import: march.csv, {day}" in chip(importId=batch)
    assert "Import: deleted" in chip(importId=str(uuid4()))


def test_assignee_chip_shows_the_name(books, bank, chip, alice, bob, acme, globex, carol, pages_of):
    bob.name = "Bob Bold"
    bob.save()
    assert "Assigned to: Bob Bold" in chip(assignedUserId=str(bob.pk))
    assert "Assigned to: Me" in chip(assignedUserId=str(alice.pk))
    assert "Assigned to: another person" in chip(assignedUserId=str(carol.pk)), "of another company"
    assert "Assigned to: another person" in chip(assignedUserId="nobody")
    editor = factories.make_member(acme, "elin@acme.example", role=Role.EDITOR)
    assert "Assigned to: another person" in chip(pages_of(editor, acme), assignedUserId=str(bob.pk))


def test_categorized_by_chip_shows_a_label(api, books, bank, chip):
    action = {"categoryId": books.category("hosting")}
    rule = {"name": "Cloud", "conditions": {"fromTo": {"operator": "contains", "value": "Nimbus"}}, "action": action}
    answer = api.post("categorization_rules", rule)
    assert answer.status_code == 201, answer.content
    assert "Categorized by: Rule “Cloud”" in chip(assignedBy=f"rule:{answer.json()['id']}")
    assert "Categorized by: Deleted rule" in chip(assignedBy=f"rule:{uuid4()}")
    assert "Categorized by: Any rule" in chip(assignedBy="rule")
    assert "Categorized by: Categorization history" in chip(assignedBy="history")
    assert "Automatically categorized: yes" in chip(categorizationsAutoAssigned="true")

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
def read_chip(pages):
    """Return the text of the active filter chips."""

    def read(pages=pages, **filters):
        chips = get_page_text(pages.get(**filters)).split("Active filters")[-1]
        assert not any(value in chips.split("Clear all filters")[0] for value in filters.values() if len(value) == 36)
        return chips

    return read


def test_import_chip_shows_file_name_or_day(api, books, bank, read_chip, acme):
    items = [{"accountId": bank, "date": str(TODAY), "amountValue": "5.00"}]
    batch = api.post("transactions/import", {"transactions": items}).json()["importId"]
    day = f"{TODAY:%-d %b %Y}"
    assert f"Import: from {day}" in read_chip(importId=batch)
    ImportBatch.objects.for_company(acme.id).update(filename="march.csv")
    assert f"Import: march.csv, {day}" in read_chip(importId=batch)
    assert "Import: deleted" in read_chip(importId=str(uuid4()))


def test_assignee_chip_shows_the_name(books, bank, read_chip, alice, bob, acme, globex, carol, make_pages):
    bob.name = "Bob Bold"
    bob.save()
    assert "Assigned to: Bob Bold" in read_chip(assignedUserId=str(bob.pk))
    assert "Assigned to: Me" in read_chip(assignedUserId=str(alice.pk))
    assert "Assigned to: another person" in read_chip(assignedUserId=str(carol.pk)), "of another company"
    assert "Assigned to: another person" in read_chip(assignedUserId="nobody")
    editor = factories.make_member(acme, "elin@acme.example", role=Role.EDITOR)
    assert "Assigned to: another person" in read_chip(make_pages(editor, acme), assignedUserId=str(bob.pk))


def test_categorized_by_chip_shows_a_label(api, books, bank, read_chip):
    action = {"categoryId": books.get_category_id("hosting")}
    rule = {"name": "Cloud", "conditions": {"fromTo": {"operator": "contains", "value": "Nimbus"}}, "action": action}
    answer = api.post("categorization_rules", rule)
    assert answer.status_code == 201, answer.content
    assert "Categorized by: Rule “Cloud”" in read_chip(assignedBy=f"rule:{answer.json()['id']}")
    assert "Categorized by: Deleted rule" in read_chip(assignedBy=f"rule:{uuid4()}")
    assert "Categorized by: Any rule" in read_chip(assignedBy="rule")
    assert "Categorized by: Categorization history" in read_chip(assignedBy="history")
    assert "Automatically categorized: yes" in read_chip(categorizationsAutoAssigned="true")

"""What is kept of a page is what drawing it again would give: until the company's log says otherwise, and no longer."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from django.core.cache import caches
from django.db import connection, transaction

from companies.models import Company, generate_id
from companies.pages.fragment_cache import get_cached_fragment
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


class NumberFragment:
    """Draws a number, the next one each time."""

    def __init__(self, company: Company):
        self.company, self.count = company, 0

    def shown(self, *of: object) -> str:
        return get_cached_fragment(company_id=self.company.id, name="drawing", depends_on=of, render=self.draw)

    def draw(self) -> str:
        self.count += 1
        return str(self.count)


@pytest.fixture
def drawing(acme: Company) -> NumberFragment:
    return NumberFragment(acme)


@pytest.fixture
def other() -> Iterator[psycopg.Connection]:
    """Another connection to the same database, in a transaction of its own."""
    with psycopg.connect(**connection.get_connection_params()) as opened:
        yield opened


def insert_audit_entry(session: Any, company: Company) -> None:
    """A row of the log, as every change of a company leaves one."""
    session.execute(
        "INSERT INTO companies_auditentry"
        " (company_id, id, time, credential, request_id, action, entity_type, entity_id)"
        " VALUES (%s, %s, %s, '', '', 'account.updated', 'account', '')",
        [company.id, generate_id(), datetime.now(tz=UTC)],
    )


def test_fragment_is_rendered_again_after_a_change(drawing, other):
    assert [drawing.shown(), drawing.shown()] == ["1", "1"]
    insert_audit_entry(other, drawing.company)
    other.commit()
    assert [drawing.shown(), drawing.shown()] == ["2", "2"]


def test_fragment_cache_ignores_changes_of_another_company(drawing, other, globex):
    assert drawing.shown() == "1"
    insert_audit_entry(other, globex)
    other.commit()
    assert drawing.shown() == "1"


def test_fragment_cache_separates_keys(drawing):
    assert [drawing.shown("viewer", 6), drawing.shown("owner", 6), drawing.shown("viewer", 6)] == ["1", "2", "1"]


def test_fragment_is_rendered_again_after_late_commit_of_earlier_change(drawing, other):
    """However early its time is."""
    insert_audit_entry(other, drawing.company)
    assert [drawing.shown(), drawing.shown()] == ["1", "1"]
    other.commit()
    assert [drawing.shown(), drawing.shown()] == ["2", "2"]


def test_fragment_is_rendered_again_after_change_during_rendering(drawing, other):
    def disturbed() -> str:
        insert_audit_entry(other, drawing.company)
        other.commit()
        return drawing.draw()

    assert get_cached_fragment(company_id=drawing.company.id, name="drawing", depends_on=(), render=disturbed) == "1"
    assert [drawing.shown(), drawing.shown()] == ["2", "2"]


def test_fragment_cache_ignores_rolled_back_changes(drawing, other):
    assert drawing.shown() == "1"
    insert_audit_entry(other, drawing.company)
    other.rollback()
    assert drawing.shown() == "1"


def test_fragment_is_not_cached_inside_an_open_transaction(drawing):
    with transaction.atomic():
        assert [drawing.shown(), drawing.shown()] == ["1", "2"]
    assert drawing.shown() == "3"


def test_fragment_cache_has_a_timeout(drawing, monkeypatch):
    """A change past the service leaves no row in the log."""
    assert 0 < caches["pages"].default_timeout <= 600
    monkeypatch.setattr(caches["pages"], "default_timeout", 0)
    assert [drawing.shown(), drawing.shown()] == ["1", "2"]


def test_fragment_cache_is_bounded(drawing):
    for _ in range(150):
        NumberFragment(factories.make_company()).shown()
    assert len(caches["pages"]._cache) <= 100

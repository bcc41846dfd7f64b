"""Before an import is undone a page says what would go, and it is that which goes."""

import pytest

from ledger.models import ImportBatch, Transaction
from tests.ledger.banks import camt, entry, simple, statement
from tests.ledger.conftest import text_of
from tests.ledger.receiving import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("exact")]


def waiting(amount, ref):
    return entry(amount, "2026-01-14", ref=ref, status="PDNG")


ANNOUNCED = camt(statement(waiting("-40.00", "R1"), waiting("-7.00", "R2"), kind="052"), kind="052")
BOOKED = camt(statement(entry("-40.00", ref="R1"), entry("-7.00", ref="R2"), entry("-1.00", ref="R3")))


@pytest.fixture
def editor(browser_of, alice, acme):
    return browser_of(alice, acme).client


def address(company, told):
    return f"/app/companies/{company.id}/imports/{told['importId']}/undo"


def test_the_numbers_are_those_of_what_goes_and_of_what_somebody_changed(editor, api, acme, take, main):
    first, last = take(ANNOUNCED), take(BOOKED)
    api.delete(f"imports/{first['importId']}")
    row = Transaction.objects.of(acme.id).get(bank_reference="R1")
    api.put(f"transactions/{row.id}", {"notes": "mine"})
    asked = text_of(editor.get(address(acme, last)))
    assert "3 transactions are deleted." in asked
    assert "1 of them has been changed since, and that is lost too." in asked
    assert len(rows(acme)) == 3
    assert "3 transactions removed. 1 of them had been changed since." in text_of(
        editor.post(address(acme, last), follow=True)
    )
    assert rows(acme) == []


def test_what_is_pending_again_is_told_before_and_after(editor, acme, take, main):
    take(ANNOUNCED)
    last = take(BOOKED)
    asked = text_of(editor.get(address(acme, last)))
    assert "1 transaction is deleted. Nobody has changed it since. 2 transactions are pending again." in asked
    done = text_of(editor.post(address(acme, last), follow=True))
    assert "1 transaction removed. 2 transactions are pending again." in done
    assert Transaction.objects.of(acme.id).filter(pending=True).count() == 2


def test_what_another_import_has_too_is_not_counted(editor, acme, take, main):
    first = take(simple("-40.00", "25.50"))
    take(simple("-40.00", "25.50", "-3.00"))
    asked = text_of(editor.get(address(acme, first)))
    assert "No transaction is deleted: other imports have all of them too, or they are gone already." in asked
    assert len(rows(acme)) == 3


def test_looking_leaves_nothing_and_an_undone_import_cannot_be_looked_at(editor, api, acme, take, main):
    told = take(BOOKED)
    editor.get(address(acme, told))
    assert ImportBatch.objects.of(acme.id).get().undone_time is None
    assert len(api.get("events", {"type": "import.undone"}).json()) == 0
    api.delete(f"imports/{told['importId']}")
    assert "The import was undone before." in text_of(editor.get(address(acme, told), follow=True))

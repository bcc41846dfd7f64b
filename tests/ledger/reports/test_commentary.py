"""The commentary on a month's report: over HTTP, and on the page."""

import pytest

from companies.models import AuditEntry
from companies.versions import NO_VERSION
from tests.ledger.closings.page_forms import parse_forms
from tests.ledger.conftest import get_page_text as text

pytestmark = pytest.mark.django_db
PATH = "reports/2026-03/commentary"


@pytest.fixture(autouse=True)
def march_transaction(books, bank):
    return books.create_transaction(bank, "-100.00", "2026-03-15")


def list_actions(company):
    entries = AuditEntry.objects.for_company(company.id).filter(entity_type="reportCommentary").order_by("number")
    return list(entries.values_list("action", flat=True))


def test_commentary_is_written_and_replaced(api, acme):
    assert api.get(PATH).status_code == 404
    first = api.put(PATH, {"text": "A good month.\nWe hired."})
    assert first.status_code == 200
    assert first.json()["month"] == "2026-03"
    assert first.json()["lastUpdatedUserId"] == api.key[:40].replace("svc_", "apiKey:")
    assert api.put(PATH, {"text": "A better month."}).status_code == 200
    assert api.get(PATH).json()["text"] == "A better month."
    assert list_actions(acme) == ["reportCommentary.created", "reportCommentary.updated"]
    assert api.put(PATH, {"text": "A better month."}).status_code == 200
    assert len(list_actions(acme)) == 2
    assert api.put(PATH, {"text": ""}).json()["text"] == ""


def test_commentary_of_another_version_is_not_replaced(api):
    first = api.put(PATH, {"text": "First"}, if_none_match="*")
    assert first.status_code == 200
    assert api.put(PATH, {"text": "Second"}, if_none_match="*").status_code == 412
    assert api.put(PATH, {"text": "Second"}, if_match=first["ETag"]).status_code == 200
    stale = api.put(PATH, {"text": "Third"}, if_match=first["ETag"])
    assert stale.status_code == 412
    assert api.get(PATH).json()["text"] == "Second"


def test_commentary_of_a_closed_month_can_change(api):
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    assert api.put(PATH, {"text": "After the close"}).status_code == 200


def test_months_without_report_have_no_commentary(api):
    for month in ["2026-02", "2999-01", "2026-13", "0000-01", "x"]:
        for body in ({"text": "x"}, {"text": 1}, {}):
            answer = api.put(f"reports/{month}/commentary", body)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), month
        assert api.get(f"reports/{month}/commentary").status_code == 404


def test_malformed_commentary_is_refused(api):
    for body in [{}, {"text": None}, {"text": 1}, {"text": "x" * 20_001}, {"text": "a\0b"}]:
        assert api.put(PATH, body).status_code == 400
        assert api.get(PATH).status_code == 404, body


def test_commentary_is_written_on_the_page(acme, owner, api):
    address = f"/app/companies/{acme.id}/reports/2026-03"
    (form,) = [form for form in parse_forms(address, owner.get(address).content.decode()) if form.action == address]
    body = form.build_body() | {"text": "Good <b>month</b>\n\nNext line"}
    assert body["seen"] == [NO_VERSION]
    done = owner.post(address, body, follow=True)
    assert "Commentary saved." in text(done)
    assert "<p>Good &lt;b&gt;month&lt;/b&gt;</p>" in done.content.decode()
    assert api.get(PATH).json()["text"] == "Good <b>month</b>\n\nNext line"


def test_commentary_that_changed_meanwhile_is_not_overwritten(acme, owner, api):
    address = f"/app/companies/{acme.id}/reports/2026-03"
    (form,) = [form for form in parse_forms(address, owner.get(address).content.decode()) if form.action == address]
    assert api.put(PATH, {"text": "Of another person"}).status_code == 200
    answer = owner.post(address, form.build_body() | {"text": "Mine"})
    assert answer.status_code == 400
    assert "Someone else changed this in the meantime" in text(answer)
    assert "Mine</textarea>" in answer.content.decode()
    assert api.get(PATH).json()["text"] == "Of another person"


def test_viewers_read_the_commentary_and_cannot_write(acme, viewer, api):
    api.put(PATH, {"text": "Good month"})
    address = f"/app/companies/{acme.id}/reports/2026-03"
    shown = viewer.get(address)
    assert "Good month" in text(shown)
    assert "<textarea" not in shown.content.decode()
    assert viewer.post(address, {"text": "x"}).status_code == 403

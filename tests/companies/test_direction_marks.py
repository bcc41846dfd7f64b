"""Direction marks in texts of banks and the API do not reorder pages."""

import pytest

from companies.direction_marks import DIRECTION_MARKS

pytestmark = pytest.mark.django_db


def test_pages_show_texts_without_direction_marks(sign_in_browser, alice, acme, api, bank):
    text = f"Shop{DIRECTION_MARKS} 12"
    values = {"accountId": bank, "date": "2026-01-31", "amountValue": "-5.00", "fromTo": text, "description": text}
    created = api.post("transactions", values).json()
    assert created["fromTo"] == text, "the API returns what it was given"
    client = sign_in_browser(alice, acme).client
    for path in ("transactions", f"transactions/{created['id']}", f"transactions/{created['id']}/edit", "inbox"):
        shown = client.get(f"/app/companies/{acme.id}/{path}").content.decode()
        assert "Shop 12" in shown, path
        assert not set(DIRECTION_MARKS) & set(shown), path


def test_compressed_pages_are_left_as_they_are(sign_in_browser, alice, acme, monkeypatch):
    seen = []
    monkeypatch.setattr("companies.middleware.remove_direction_marks", lambda content: seen.append(content) or content)
    client = sign_in_browser(alice, acme).client
    address = f"/app/companies/{acme.id}/profit-and-loss?comparison=plan"
    assert client.get(address).status_code == 200
    assert len(seen) == 1
    compressed = client.get(address, headers={"accept-encoding": "gzip"})
    assert compressed.headers["Content-Encoding"] == "gzip"
    assert len(seen) == 1

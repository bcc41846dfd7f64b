"""Direction marks in texts of banks and the API do not reorder pages."""

import gzip
from datetime import date

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


def test_compressed_pages_have_no_direction_marks(sign_in_browser, alice, acme, api, bank):
    """The marks are removed first: compressed bytes can look like one."""
    values = {"accountId": bank, "date": f"{date.today():%Y-%m-%d}", "amountValue": "-5.00"}
    assert api.post("transactions", values | {"fromTo": f"Shop{DIRECTION_MARKS} 12"}).status_code == 201
    client = sign_in_browser(alice, acme).client
    for query in ("", "?months=3"):
        answer = client.get(f"/app/companies/{acme.id}/accounts/{bank}{query}", headers={"accept-encoding": "gzip"})
        assert answer.headers["Content-Encoding"] == "gzip"
        assert int(answer.headers["Content-Length"]) == len(answer.content)
        shown = gzip.decompress(answer.content).decode()
        assert "Shop 12" in shown
        assert not set(DIRECTION_MARKS) & set(shown)

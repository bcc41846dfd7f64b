"""Direction marks in texts of banks and the API do not reorder pages."""

import gzip
import re
from datetime import date
from html import unescape

import pytest

from companies.direction_marks import DIRECTION_MARKS

pytestmark = pytest.mark.django_db
FIELD_VALUES = re.compile(r'\svalue="[^"]*"|<textarea\b.*?</textarea>', re.DOTALL)


def test_pages_show_texts_without_direction_marks(sign_in_browser, alice, acme, api, bank):
    text = f"Shop{DIRECTION_MARKS} 12"
    values = {"accountId": bank, "date": "2026-01-31", "amountValue": "-5.00", "fromTo": text, "description": text}
    created = api.post("transactions", values).json()
    assert created["fromTo"] == text, "the API returns what it was given"
    client = sign_in_browser(alice, acme).client
    for path in ("transactions", f"transactions/{created['id']}", f"transactions/{created['id']}/edit", "inbox"):
        shown = client.get(f"/app/companies/{acme.id}/{path}").content.decode()
        assert "Shop 12" in shown or f'value="{text}"' in shown, path
        assert not set(DIRECTION_MARKS) & set(FIELD_VALUES.sub("", shown)), path


def test_form_saved_unchanged_keeps_direction_marks(sign_in_browser, alice, acme, api, bank):
    text = f"Shop{DIRECTION_MARKS} 12"
    values = {"accountId": bank, "date": "2026-01-31", "amountValue": "-5.00"}
    texts = dict.fromkeys(("fromTo", "description", "notes"), text)
    created = api.post("transactions", values | texts).json()
    client, path = sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}/transactions/{created['id']}/edit"
    form = client.get(path).content.decode()
    found = re.findall(r'name="(\w+)"[^>]*?\svalue="([^"]*)"', form)
    found += re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>([^<]*)</textarea>', form)
    fields = {name: unescape(value) for name, value in found}
    assert {name: fields[name] for name in texts} == texts
    assert client.post(path, {**fields, "accountId": bank}).status_code == 303
    stored = api.get(f"transactions/{created['id']}").json()
    assert {name: stored[name] for name in texts} == texts


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

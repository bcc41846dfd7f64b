"""Forms that stood open while somebody else changed what they are about: nothing unseen is overwritten."""

import html
import re
from typing import Any

import pytest

from companies.models import AuditEntry
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


@pytest.fixture
def row_ids(api: Any) -> dict[str, str]:
    """The company's path, and the ids of a row of each resource with forms."""
    account = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    body = {"name": "Rent", "accountId": account, "startDate": "2026-12-01", "amountValue": "-10.00"}
    rule = api.post("planned_transactions", body).json()["id"]
    row = {"accountId": account, "date": "2026-11-01", "amountValue": "-10.00"}
    customer = api.post("counterparties", {"name": "Hooli", "type": "customer"}).json()["id"]
    category = api.get_category_id("hosting")
    price = {"type": "fixed", "amount": {"value": 5, "currency": "EUR"}}
    item = {"month": "2026-03", "plType": "cogs", "categoryId": category, "amount": price}
    return {
        "account": account,
        "rule": rule,
        "transaction": api.post("transactions", row).json()["id"],
        "customer": customer,
        "subscription": api.post("subscriptions", {"customerId": customer}).json()["id"],
        "product": api.post("products", {"name": "Team"}).json()["id"],
        "products": api.post("product_groups", {"name": "Plans"}).json()["id"],
        "item": api.post("plan_items", item).json()["id"],
        "category": api.post("categories", {"name": "Snacks", "plTypes": ["ga"]}).json()["id"],
        "accounts": api.post("account_groups", {"name": "Banks"}).json()["id"],
    }


CHANGED_MESSAGE = re.compile(
    r"Someone else changed this in the meantime\. Review the current values|in the meantime\. Your change was not saved"
)
FORMS = {  # page, path of the API, and what somebody else changes
    "company": ("settings", "", {"name": "Theirs", "baseCurrency": "CHF", "timeZone": "UTC"}),
    "account": ("accounts/{account}/edit", "accounts/{account}", {"name": "Theirs"}),
    "rule": ("planned/{rule}/edit", "planned_transactions/{rule}", {"name": "Theirs"}),
    "occurrence": (
        "planned/{rule}/occurrences/2026-12-01",
        "planned_transactions/{rule}/overrides/2026-12-01",
        {"amountValue": "-77.00"},
    ),
    "transaction": ("transactions/{transaction}/edit", "transactions/{transaction}", {"notes": "Theirs"}),
    "customer": ("recurring-revenue/customers/{customer}/edit", "counterparties/{customer}", {"name": "Theirs"}),
    "subscription": (
        "recurring-revenue/subscriptions/{subscription}/edit",
        "subscriptions/{subscription}",
        {"externalId": "theirs"},
    ),
    "product": ("recurring-revenue/products/{product}/edit", "products/{product}", {"name": "Theirs"}),
    "group": ("recurring-revenue/product-groups/{products}/edit", "product_groups/{products}", {"name": "Theirs"}),
    "category": ("settings/categories/{category}", "categories/{category}", {"name": "Theirs"}),
    "no category": ("settings/categories/{category}/delete", "categories/{category}", {"name": "Theirs"}),
    "counterparty": ("settings/counterparties/{customer}", "counterparties/{customer}", {"name": "Theirs"}),
    "account group": ("accounts/groups/{accounts}", "account_groups/{accounts}", {"name": "Theirs"}),
    "plan item": ("plan/items/{item}", "plan_items/{item}", {"duration": 7}),
}
MISTAKES = {
    "account": {"name": ""},
    "rule": {"startDate": "soon"},
    "occurrence": {"amountValue": "much"},
    "transaction": {"date": "soon"},
    "customer": {"name": ""},
    "product": {"name": ""},
    "category": {"name": ""},
    "counterparty": {"name": ""},
    "account group": {"name": ""},
    "group": {"name": ""},
    "plan item": {"month": "soon"},
}


def parse_last_form(body: str) -> dict[str, str]:
    """What the page's last form would send."""
    form = re.findall(r"<form .*?</form>", body, re.DOTALL)[-1]
    form = re.sub(r'<input type="radio"(?![^>]*\schecked)[^>]*>', "", form)
    result = re.findall(r'<input[^>]*\sname="(\w+)"[^>]*\svalue="([^"]*)"', form)
    for name, options in re.findall(r'<select[^>]*\sname="(\w+)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option(?: value="([^"]*)")?\s+selected>([^<]*)', options)
        result.append((name, "" if not chosen else chosen[2] if chosen[1] is None else chosen[1]))
    return {name: html.unescape(value) for name, value in result}


def test_stale_form_keeps_concurrent_changes(sign_in_browser, alice, acme, api, row_ids):
    for case, (place, path, change) in FORMS.items():
        with undo_changes():
            client, address = sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}/{place.format(**row_ids)}"
            form = parse_last_form(client.get(address).content.decode())
            assert api.put(path.format(**row_ids), change).status_code == 200, case
            rows = AuditEntry.objects.for_company(acme.id).count()
            answer = client.post(address, form)
            assert answer.status_code == 400, case
            assert CHANGED_MESSAGE.search(answer.content.decode()), case
            assert AuditEntry.objects.for_company(acme.id).count() == rows, case
            again = parse_last_form(client.get(address).content.decode())
            assert client.post(address, again).status_code == 303, case


def test_stale_form_with_an_error_names_the_conflict(sign_in_browser, alice, acme, api, row_ids):
    for case, mistake in MISTAKES.items():
        place, path, change = FORMS[case]
        with undo_changes():
            client, address = sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}/{place.format(**row_ids)}"
            form = parse_last_form(client.get(address).content.decode())
            assert api.put(path.format(**row_ids), change).status_code == 200, case
            again = parse_last_form(client.post(address, form | mistake).content.decode())
            answer = client.post(address, again | {name: form[name] for name in mistake})
            assert answer.status_code == 400, case
            assert CHANGED_MESSAGE.search(answer.content.decode()), case

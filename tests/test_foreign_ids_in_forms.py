"""Ids of another company, typed into the forms of pages: each is as unknown there as one that nobody has."""

import re
from typing import Any

import pytest

from companies.models import AuditEntry, Company, Membership
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


def create_all_rows(api: Any) -> dict[str, str]:
    """Something of every kind that a form can name."""
    account, savings = [api.post("accounts", {"name": n, "type": "bank"}).json()["id"] for n in ("Main", "Savings")]
    row = {"accountId": account, "date": "2026-03-15", "amountValue": "-100.00"}
    rule = {"name": "Rent", "accountId": account, "startDate": "2026-12-01", "amountValue": "-10.00"}
    return {
        "account": account,
        "savings": savings,
        "group": api.post("account_groups", {"name": "Banks"}).json()["id"],
        "category": api.get_category_id("hosting"),
        "counterparty": api.post("counterparties", {"name": "Initech", "type": "vendor"}).json()["id"],
        "transaction": api.post("transactions", row).json()["id"],
        "counter": api.post("transactions", row | {"accountId": savings, "amountValue": "100.00"}).json()["id"],
        "rule": api.post("planned_transactions", rule).json()["id"],
        "customer": (customer := api.post("counterparties", {"name": "Hooli", "type": "customer"}).json()["id"]),
        "own": api.post("categories", {"name": "Snacks", "plTypes": ["cogs"]}).json()["id"],
        "other": api.post("counterparties", {"name": "Pied Piper", "type": "customer"}).json()["id"],
        "product": api.post("products", {"name": "Team"}).json()["id"],
        "products": api.post("product_groups", {"name": "Plans"}).json()["id"],
        "subscription": api.post("subscriptions", {"customerId": customer}).json()["id"],
        "member": str(Membership.objects.for_company(api.company.id).values_list("user_id", flat=True)[0]),
    }


ACCOUNT = {"name": "Main", "type": "bank", "defaultCurrency": "EUR", "accountGroupId": "", "defaultCategoryId": ""}
RULE = {"name": "Rent", "direction": "out", "amountValue": "10.00", "startDate": "2026-12-01", "accountId": ""}
ROW = {"accountId": "{account}", "date": "2026-03-15", "amountValue": "5.00"}
PART = {"category-0": "{category}:cogs", "amount-0": "-1.00"}
PRICE = {"amountValue": "9.00", "amountCurrency": "EUR", "effectiveDate": "2026-03-01"}
PLAN = {"month": "2026-03", "amount": "9", "currency": "EUR", "growth": "fixed"}
BULK = {"act": "categorize", "id": "{transaction}", "category": "{category}:cogs"}
FORMS = [
    ("accounts/new", ACCOUNT, "accountGroupId", "{group}"),
    ("accounts/new", ACCOUNT, "defaultCategoryId", "{category}"),
    ("accounts/{account}/edit", ACCOUNT, "accountGroupId", "{group}"),
    ("accounts/{account}/edit", ACCOUNT, "defaultCategoryId", "{category}"),
    ("planned/new", RULE, "accountId", "{account}"),
    ("planned/new", RULE, "categoryId", "{category}"),
    ("planned/{rule}/edit", RULE, "accountId", "{account}"),
    ("planned/{rule}/edit", RULE, "categoryId", "{category}"),
    ("planned/new", RULE, "counterparty", "{counterparty}"),
    ("settings/categories/{own}/delete", {}, "replaceWith", "{category}"),
    ("settings/counterparties/{customer}/merge", {}, "into", "{other}"),
    ("accounts/groups", {"was-{account}": ""}, "group-{account}", "{group}"),
    ("transactions/new", ROW, "accountId", "{account}"),
    ("transactions/new", ROW, "assignedUserId", "{member}"),
    ("transactions/{transaction}/edit", {}, "accountId", "{account}"),
    ("transactions/{transaction}/edit", {}, "assignedUserId", "{member}"),
    ("transactions/{transaction}/split", PART, "category-0", "{category}:cogs"),
    ("transactions/{transaction}/split", PART, "counterparty-0", "{counterparty}"),
    ("transactions/{transaction}/link", {}, "target", "{counter}"),
    ("transactions/{transaction}/other-leg", {}, "accountId", "{savings}"),
    ("transactions", BULK, "category", "{category}:cogs"),
    ("transactions", BULK, "counterparty", "{counterparty}"),
    ("recurring-revenue/customers/{customer}/subscriptions/new", PRICE, "productId", "{product}"),
    ("recurring-revenue/subscriptions/{subscription}/edit", {}, "productId", "{product}"),
    ("recurring-revenue/products/new", {"name": "Solo"}, "productGroupId", "{products}"),
    ("plan/fill", PLAN, "row", "{category}:cogs"),
    ("plan", {"was0": "", "c0-1": "5"}, "row0", "{category}:cogs"),
]


def test_id_of_other_company_in_form_is_unknown(sign_in_browser, alice, carol, api, globex_api):
    acme: Company = api.company
    own, other = create_all_rows(api), create_all_rows(globex_api)
    client = sign_in_browser(alice, acme).client
    rows = [AuditEntry.objects.for_company(company.id).count() for company in (acme, globex_api.company)]
    for place, form, field, foreign in FORMS:
        answers = []
        with undo_changes():
            for value in (foreign.format(**other), re.sub(r"\{\w+\}", UNKNOWN_ID, foreign)):
                sent = {name.format(**own): text.format(**own) for name, text in form.items()}
                sent |= {field.format(**own): value}
                answer = client.post(f"/app/companies/{acme.id}/{place.format(**own)}", sent)
                result = re.findall(r'(?s)class="(?:field-error|notice error)"[^>]*>(.*?)</p>', answer.content.decode())
                answers.append((answer.status_code, result))
            assert answers[0] == answers[1], (place, field)
            assert (answers[0][0], bool(answers[0][1])) == (400, True), (place, field)
            assert rows == [
                AuditEntry.objects.for_company(company.id).count() for company in (acme, globex_api.company)
            ], (place, field)
            good = {name.format(**own): text.format(**own) for name, text in form.items()}
            good |= {field.format(**own): foreign.format(**own)}
            assert client.post(f"/app/companies/{acme.id}/{place.format(**own)}", good).status_code == 303

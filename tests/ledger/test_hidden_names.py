"""Pages for people whose own list of permissions leaves something out: names stay hidden, and nothing is lost by it."""

import pytest

from companies.permissions import ALL_PERMISSIONS, Permission
from ledger.models import Account
from planning.models import PlannedTransaction
from tests import factories
from tests.ledger.conftest import find_field_error, get_page_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def sign_in_without(sign_in_browser, acme):
    """Sign in a user with all permissions except those named; return the browser."""

    def sign_in(*left_out):
        held = [each.value for each in Permission if each in ALL_PERMISSIONS and each.value not in left_out]
        return sign_in_browser(factories.make_member(acme, "some@acme.example", permissions=held), acme).client

    return sign_in


def build_page_path(company, path):
    return f"/app/companies/{company.id}/{path}"


@pytest.mark.parametrize("permission", ["counterparties:read"])
def test_counterparty_filter_is_rejected_without_permission(permission, sign_in_without, books, bank, acme):
    books.create_transaction(bank)
    client = sign_in_without(permission)
    answer = client.get(build_page_path(acme, "transactions?counterparty=Initech"))
    assert answer.status_code == 400
    assert "You do not have permission to view counterparties." in get_page_text(answer)
    assert 'id="counterparty"' not in client.get(build_page_path(acme, "transactions")).content.decode()
    gone = client.post(build_page_path(acme, "transactions?counterparty=Initech"), {"act": "delete", "whole": "on"})
    assert gone.status_code == 400
    assert len(books.api.get("transactions").json()) == 1


def test_counterparty_names_cannot_be_guessed_without_permission(sign_in_without, books, bank, acme):
    factories.make_customer(acme, "Initech")
    row = books.create_transaction(bank)["id"]
    client = sign_in_without("counterparties:read")
    category = f"{books.get_category_id('hosting')}:cogs"
    for name in ("Initech", "Nobody"):
        answer = client.post(
            build_page_path(acme, "transactions"),
            {"act": "categorize", "id": row, "category": category, "counterparty": name},
        )
        assert find_field_error(answer, "counterparty") == "You do not have permission to view counterparties."
        form = {"category-0": category, "amount-0": "-1.00", "counterparty-0": name}
        answer = client.post(build_page_path(acme, f"transactions/{row}/split"), form)
        assert find_field_error(answer, "counterparty-0") == "You do not have permission to view counterparties."
    assert "Counterparty</label>" not in client.get(build_page_path(acme, f"transactions/{row}/split")).content.decode()


def test_account_form_keeps_hidden_default_category(sign_in_without, api, books, bank, acme):
    hosting = books.get_category_id("hosting")
    api.put(f"accounts/{bank}", {"defaultCategoryId": hosting})
    client = sign_in_without("categories:read")
    shown = client.get(build_page_path(acme, f"accounts/{bank}/edit")).content.decode()
    assert 'name="defaultCategoryId"' not in shown
    form = {"name": "Renamed", "type": "bank", "accountNumber": "", "accountGroupId": "", "defaultCurrency": "EUR"}
    assert client.post(build_page_path(acme, f"accounts/{bank}/edit"), form).status_code == 303
    stored = Account.objects.for_company(acme.id).get(id=bank)
    assert (stored.name, str(stored.default_category_id)) == ("Renamed", hosting)
    assert "Default category (no access)" in get_page_text(client.get(build_page_path(acme, f"accounts/{bank}")))


def test_planned_transaction_page_hides_counterparty_without_permission(sign_in_without, api, acme):
    initech = factories.make_customer(acme, "Initech")
    planned = PlannedTransaction.objects.for_company(acme.id)
    body = {"name": "Retainer", "startDate": "2026-03-01", "amountValue": "900.00", "accountId": None}
    answer = api.post("planned_transactions", body | {"counterparty": {"id": str(initech.id), "type": "customer"}})
    assert answer.status_code == 201, answer.content
    shown = get_page_text(
        sign_in_without("counterparties:read").get(build_page_path(acme, f"planned/{planned.get().id}"))
    )
    assert "Initech" not in shown
    assert "Counterparty (no access)" in shown


def test_transfer_candidates_require_read_permission(sign_in_browser, books, bank, savings, acme):
    source = books.create_transaction(bank, "-100.00")["id"]
    books.create_transaction(savings, "100.00", fromTo="Secret")
    writer = factories.make_member(acme, "writer@acme.example", permissions=["transactions:write"])
    answer = sign_in_browser(writer, acme).client.get(build_page_path(acme, f"transactions/{source}/link"))
    assert answer.status_code == 403
    assert "Secret" not in answer.content.decode()


def test_people_and_keys_are_named_only_to_those_who_manage_them(
    sign_in_without, sign_in_browser, pages, books, bank, alice, bob, acme
):
    by_key = books.create_transaction(bank)["id"]
    type(alice).objects.filter(pk=alice.pk).update(name="Alice Owner")
    form = {"accountId": bank, "date": "2026-03-15", "amountValue": "5.00", "fromTo": "", "description": ""}
    by_alice = pages.post("/new", **form)["Location"]
    assert "by API key “test”" in get_page_text(pages.get(f"/{by_key}"))
    assert "by Alice Owner" in get_page_text(pages.client.get(by_alice))
    client = sign_in_browser(bob, acme).client
    assert "by an API key" in get_page_text(client.get(build_page_path(acme, f"transactions/{by_key}")))
    shown = get_page_text(client.get(by_alice))
    assert "Alice Owner" not in shown
    assert "by another person" in shown


def test_transaction_form_names_missing_accounts_permission(sign_in_without, books, bank, acme):
    row = books.create_transaction(bank)["id"]
    client = sign_in_without("accounts:read")
    for path in ("transactions/new", f"transactions/{row}/edit"):
        shown = get_page_text(client.get(build_page_path(acme, path)))
        assert "No accounts yet" not in shown
        assert "You need the permission accounts:read. Ask an owner for access." in shown

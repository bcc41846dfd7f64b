"""Every form of every company page is sent on a company whose months are closed: no figure of them changes."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.urls import resolve

from companies.closed_periods import PeriodClosed
from tests.api.request_bodies import STATEMENT, UNKNOWN_ID, create_all_rows
from tests.ledger.closings.conftest import read_closed_figures
from tests.ledger.closings.page_forms import parse_forms
from tests.test_company_pages import list_company_pages

pytestmark = pytest.mark.django_db

CLOSED_DAY = "2024-05-20"
TABLE = b"Date,Payee,Amount\n2024-05-20,Landlord,-7.00\n2024-05-21,Customer,12.50\n2024-08-30,Late,-1.00\n"
ALONE = {"select", "radio", "checkbox", "date", "month"}  # and what is typed, only together with the rest
# Ids in addresses, by the names that the URL files give them.
ROW_OF = {
    "account_id": "accounts",
    "group_id": "account_groups",
    "transaction_id": "transactions",
    "rule_id": "categorization_rules",
    "run_id": "categorization_runs",
    "category_id": "categories",
    "counterparty_id": "counterparties",
    "customer_id": "counterparties",
    "subscription_id": "subscriptions",
    "event_id": "subscription_events",
    "product_id": "products",
    "product_group_id": "product_groups",
    "import_id": "imports",
    "invoice_import_id": "invoice_imports",
    "event_import_id": "subscription_event_imports",
    "planned_id": "planned_transactions",
    "scenario_id": "scenarios",
    "plan_item_id": "plan_items",
    "file_id": "files",
    "endpoint_id": "webhook_endpoints",
    "delivery_id": "webhook_deliveries",
    "member_id": "members",
    "key_id": "api_keys",
    "day": "day",
    "month": "month",
}
CLOSING_FORMS = {"closings", "closing"}  # they close more months and reopen them, as they are meant to
# Sent without a form, for no page shows one here.
SENT_DIRECTLY = {
    *(
        "account-delete",
        "counterparty-delete",
        "demonstration-reset",
        "document-attach",
        "document-detach",
        "documents-plan",
    ),
    *(
        "import-undo",
        "occurrence-restore",
        "occurrence-skip",
        "occurrence-unsettle",
        "occurrence-write-off",
        "plan-payments",
        "plan-undo",
        "planned-proposal-plan",
    ),
    *(
        "payables-import-check",
        "plan-import-check",
        "receivables-import-check",
        "transaction-settle-sum",
        "transaction-unsettle",
    ),
    *("inbox-accept", "subscription-event-import-check"),
    *("sandbox-delete", "scenario", "scenario-adopt", "scenario-change-delete", "scenario-change-new"),
    *("scenario-delete", "scenario-duplicate", "scenario-undo"),
    *(
        "rules-apply",
        "rules-created-undo",
        "rules-undo",
        "view-delete",
        "webhook-redeliver",
        "report-link-revoke",
        "closing-link-revoke",
    ),
}
REFUSED = {
    *("account-initial", "category-delete", "company-settings", "import-check", "import-undo", "inbox"),
    *("statement-check", "subscription-event-new", "subscription-event-retract", "transaction-delete"),
    "subscription-event-import-undo",
    *("transaction-edit", "transaction-link", "transaction-new", "transaction-split", "transaction-unlink"),
    "transactions",
}


def build_address(address, company, row_ids):
    filled = address.replace("<str:company_id>", str(company.id))
    return "/" + re.sub(r"<\w+:(\w+)>", lambda found: str(row_ids.get(ROW_OF.get(found[1], ""), UNKNOWN_ID)), filled)


def resolve_page(address):
    """The name of the page at an address."""
    return resolve(address.partition("?")[0]).url_name


def change_field(field):
    """Another value than the one shown: a closed day, another amount, another option, the other state of a box."""
    others = [value for value in field.offered if value not in {"", field.value}]
    if field.kind in {"hidden", "password"}:
        return field.value
    if field.kind == "checkbox":
        return others[0] if others else None
    if field.kind in {"select", "radio"}:
        return others[-1] if others else field.value
    if field.kind in {"date", "month"}:
        return CLOSED_DAY if field.kind == "date" else CLOSED_DAY[:7]
    if re.search("amount|price|value", field.name, re.IGNORECASE):
        return "7.00" if re.match("[1-9]", field.value) else "-7.00"
    return field.value or "7"


def fill_field(field):
    """The same where figures depend on it; boxes and texts as they are shown, but that a name is given."""
    if field.kind in {"checkbox", "textarea"} or (field.kind == "text" and field.name != "name"):
        return change_field(field) if re.search("amount", field.name, re.IGNORECASE) else field.value
    return change_field(field)


@pytest.fixture
def row_ids(api, owner, acme):
    """The id of a row of every resource, in months that are closed afterwards."""
    found = create_all_rows(api)
    pair = [api.post("accounts", {"name": name, "type": "bank"}).json()["id"] for name in ("Main", "Savings")]
    legs = [
        api.post("transactions", {"accountId": account, "date": "2024-05-02", "amountValue": amount}).json()["id"]
        for account, amount in [(pair[0], "-5.00"), (pair[1], "5.00")] * 2
    ]
    body = {"sourceTransactionId": legs[0], "targetTransactionId": legs[1], "sourceCategorizationId": None}
    assert api.post("transactions/link_transfer", body).status_code == 200
    found |= {"main": pair[0], "linked": legs[0], "open": legs[2], "day": "2024-02-29", "month": "2024-03"}
    return found


@pytest.fixture
def period_errors(monkeypatch):
    """The arguments of each `PeriodClosed` error that was raised."""
    found = []
    build = PeriodClosed.__init__
    monkeypatch.setattr(PeriodClosed, "__init__", lambda *args, **more: found.append(args) or build(*args, **more))
    return found


def upload(owner, acme, account_id, name, content):
    """Upload a file and return the page that checks it."""
    form = {"account": account_id, "file": SimpleUploadedFile(name, content)}
    answer = owner.post(f"/app/companies/{acme.id}/imports/new", form)
    assert answer.status_code == 303, answer.content
    return answer.headers["Location"]


def find_forms(owner, acme, row_ids):
    """The forms of all pages, by address and fields."""
    targets = [row_ids] + [row_ids | {"transactions": row_ids[name]} for name in ("linked", "open")]
    pages = dict.fromkeys(
        build_address(address, acme, each) for each in targets for _name, address, _view in list_company_pages()
    )
    statement = upload(owner, acme, row_ids["accounts"], "a.sta", STATEMENT.replace(b"240501D1,00", b"240502D3,00"))
    table = upload(owner, acme, row_ids["main"], "rows.csv", TABLE)
    pages |= dict.fromkeys([statement, f"{statement}&closed=skip", table])
    forms = {}
    for page in pages:
        window = {} if "?" in page else {"startDate": "2024-01-01", "endDate": "2024-12-31"}
        answer = owner.get(page, window)
        if answer.status_code == 200 and "html" in answer.headers["Content-Type"]:
            for form in parse_forms(page, answer.content.decode()):
                forms.setdefault((form.action, *sorted(form.build_body())), form)
    return forms


def list_bodies(form):
    """As the form is shown, with everything changed, with what figures depend on, and with each of these alone."""
    yield form.build_body()
    yield form.build_body(change_field)
    yield form.build_body(fill_field)
    for alone in form.fields:
        if alone.kind in ALONE and change_field(alone) != alone.value:
            yield form.build_body(lambda field, alone=alone: change_field(field) if field is alone else field.value)


def list_buttons(form):
    """The buttons that send a form; of those that many rows have, with the number of their row, the first row's."""
    buttons = form.buttons or [("", "", "")]
    return {
        (name, value.isdecimal() or value, own): (name, value, own) for name, value, own in reversed(buttons)
    }.values()


def list_requests(acme, forms, row_ids):
    """(address, body) of everything that pages can send, each once."""
    requests = {(address, str(body)): (address, body) for address, body in build_requests(acme, forms, row_ids)}
    return requests.values()


def build_requests(acme, forms, row_ids):
    for form in forms:
        for name, value, own in list_buttons(form):
            target = own or form.action
            if target.startswith(f"/app/companies/{acme.id}/") and resolve_page(target) not in CLOSING_FORMS:
                yield from ((target, body | ({name: [value]} if name else {})) for body in list_bodies(form))
    for page, address, _view in list_company_pages():
        if page in SENT_DIRECTLY:
            yield build_address(address, acme, row_ids), {"file": [row_ids["files"]]}  # which some of them ask for


def count_written_rows():
    """Return how many rows were inserted, updated and deleted in this transaction, also if that was rolled back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_xact_user_tables")
        return cursor.fetchone()[0]


def test_no_form_changes_a_closed_figure(api, acme, owner, row_ids, period_errors):
    forms = find_forms(owner, acme, row_ids)  # that stood open while the month was closed
    answer = api.post("closings", {"month": "2024-06", "acknowledge": True})
    assert answer.status_code == 201, answer.content
    forms = find_forms(owner, acme, row_ids) | forms
    requests = list_requests(acme, forms.values(), row_ids)
    before = read_closed_figures(acme)
    sent, refused = set(), set()
    for target, body in requests:
        page = resolve_page(target)
        period_errors.clear()
        with transaction.atomic():
            written_rows = count_written_rows()
            answer = owner.post(target, body)
            assert answer.status_code < 500, (page, answer.content)
            if count_written_rows() != written_rows:
                assert read_closed_figures(acme) == before, (page, body)
            transaction.set_rollback(True)
        sent.add(page)
        refused |= {page} if period_errors else set()
    writing = {name for name, _, view in list_company_pages() if getattr(view, "permission_for", {}).get("POST")}
    assert writing - sent == CLOSING_FORMS
    assert REFUSED - refused == set()

"""The log as people find their way in it: by person, by kind of thing, by day, in sentences."""

import re
from html import unescape

import pytest

from companies.audit.action_labels import ACTION_PHRASES, ENTITY_LABELS, VERB_PHRASES
from companies.models import AuditEntry
from companies.permissions import Role
from tests import factories
from tests.test_house import ROOT, SOURCES

pytestmark = pytest.mark.django_db
EXPORT_ACTIONS = {"transactions.csv", "transactions.xlsx", "apiKey.creatorLeft"}  # files and notifications, no acts
ID_PATTERN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


def build_page_path(company, query=""):
    return f"/app/companies/{company.id}/settings/activity{query}"


def list_entry_texts(answer):
    """What the rows say: who did what."""
    rows = re.findall(r'class="what text".*?</strong>(.*?)<', answer.content.decode(), re.DOTALL)
    return [unescape(row).strip() for row in rows]


def get_page_text(answer):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


@pytest.fixture
def books(api, owner, acme):
    """What a key made, and what Alice changed of it."""
    account = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    row = {"accountId": account, "date": "2026-03-15", "amountValue": "-10.00", "fromTo": "Nimbus"}
    ids = [api.post("transactions", row).json()["id"] for _ in range(3)]
    category = next(each["id"] for each in api.get("categories").json() if each["systemKey"] == "hosting")
    body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": category}
    assert api.post("transactions/categorize", body).status_code == 200
    form = {"name": "Giro", "type": "bank", "defaultCurrency": "EUR"}
    assert owner.post(f"/app/companies/{acme.id}/accounts/{account}/edit", form).status_code == 303
    return {"account": account, "transactions": ids}


def test_audit_log_page_shows_sentences_without_ids_or_column_names(owner, api, acme, books):
    answer = owner.get(build_page_path(acme))
    entry_texts = list_entry_texts(answer)
    assert entry_texts[0] == "changed the account “Giro”"
    assert entry_texts[1] == "categorized 3 transactions"
    assert entry_texts[2:5] == ["created the transaction “Nimbus”"] * 3
    shown = get_page_text(answer).partition("Change ")[2]
    assert not ID_PATTERN.search(shown)
    words = re.sub(r"…\w+|IBAN", "", shown)  # a key's last letters are any
    assert not re.search(r"\b[a-z]+_[a-z]+\b|\b[a-z]+[A-Z][a-z]+\b", words), "as columns are called"
    assert "Some Person changed the account" in get_page_text(answer)
    assert "API key “test” categorized" in get_page_text(answer)


def test_audit_log_page_filters_by_person_object_and_date(owner, alice, acme, books):
    assert list_entry_texts(owner.get(build_page_path(acme), {"person": str(alice.pk)})) == [
        "changed the account “Giro”"
    ]
    assert list_entry_texts(owner.get(build_page_path(acme), {"kind": "account"})) == [
        "changed the account “Giro”", "created the account “Giro”",
    ]  # fmt: skip
    one = {"kind": "transaction", "thing": books["transactions"][0]}
    assert list_entry_texts(owner.get(build_page_path(acme), one)) == ["created the transaction “Nimbus”"]
    day = str(AuditEntry.objects.for_company(acme.id).latest("time").time.date())
    assert len(list_entry_texts(owner.get(build_page_path(acme), {"from": day, "to": day, "kind": "account"}))) == 2
    assert "No results" in get_page_text(owner.get(build_page_path(acme), {"to": "2020-01-01"}))
    assert list_entry_texts(owner.get(build_page_path(acme), {"person": "x\0y"})) == []
    answer = owner.get(build_page_path(acme), {"from": "soon"})
    assert (answer.status_code, 'id="from-error"' in answer.content.decode()) == (400, True)


def test_audit_log_page_keeps_filters_on_next_page(owner, api, acme, books):
    for number in range(60):
        api.post("account_groups", {"name": f"Group {number}"})
    answer = owner.get(build_page_path(acme), {"kind": "accountGroup"})
    following = unescape(re.search(r'href="(\?[^"]*cursor=[^"]*)" rel="next"', answer.content.decode())[1])
    rest = list_entry_texts(owner.get(build_page_path(acme, following)))
    assert len(rest) == 24
    assert rest[-1] == "created the account group “Group 0”"


def test_audit_log_hides_names_without_permission(browser_of, api, acme, books):
    eve = factories.make_member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["audit:read"])
    answer = browser_of(eve, acme).client.get(build_page_path(acme))
    assert "created the transaction" in list_entry_texts(answer)
    assert "An API key created the transaction" in get_page_text(answer)
    assert "API key “test” created" not in get_page_text(answer)
    assert "Some Person" not in get_page_text(answer).partition("Your permissions")[2]


def test_every_audit_action_has_a_phrase():
    """Of the acts that the code writes: each is a verb of a thing that people know, or has a sentence of its own."""
    kinds = "|".join([*ENTITY_LABELS, "transactions", "plannedTransactions", "invoices", "subscriptionEvents"])
    acts = re.compile(rf'"((?:{kinds})\.[a-zA-Z]+)"')
    product = [path for path in SOURCES if path.relative_to(ROOT).parts[0] != "tests"]
    written = {act for path in product for act in acts.findall(path.read_text())}
    known = {f"{kind}.{act}" for kind in ENTITY_LABELS for act in VERB_PHRASES} | ACTION_PHRASES.keys()
    assert len(written) > 60
    assert written - known - {"closing.version"} == EXPORT_ACTIONS  # which is a field


@pytest.mark.parametrize("words", ["to=9999-12-31", "from=0001-01-01", "from=9999-12-31&to=0001-01-01"])
def test_audit_log_page_accepts_first_and_last_calendar_day(owner, acme, words):
    assert owner.get(f"/app/companies/{acme.id}/settings/activity?{words}").status_code == 200


def test_audit_log_names_deleted_rows_and_labels_codes(owner, api, acme, books):
    api.delete(f"transactions/{books['transactions'][0]}")
    assert api.post("categories", {"name": "Ads", "plTypes": ["cac"]}).status_code == 201
    answer = owner.get(build_page_path(acme))
    assert "deleted the transaction “Nimbus”" in list_entry_texts(answer)
    assert "P&L lines: Sales and marketing" in get_page_text(answer)


def test_audit_log_describes_moved_group_and_reordered_rules(owner, api, acme):
    made = [api.post("account_groups", {"name": f"Group {number}"}).json()["id"] for number in range(3)]
    assert owner.post(f"/app/companies/{acme.id}/accounts/groups/{made[2]}/move", {"to": "up"}).status_code == 303
    entry_texts = list_entry_texts(owner.get(build_page_path(acme)))
    assert entry_texts[:2] == ["moved the account group “Group 2” to position 2", "created the account group “Group 2”"]
    rule = {"conditions": {"text": {"operator": "contains", "value": "a"}}}
    hosting = next(each["id"] for each in api.get("categories").json() if each["systemKey"] == "hosting")
    rules = [
        api.post("categorization_rules", rule | {"name": name, "action": {"categoryId": hosting}}).json()["id"]
        for name in "abc"
    ]
    for _ in range(2):
        api.put("categorization_rules/order", {"ids": rules[::-1]})
    entry_texts = list_entry_texts(owner.get(build_page_path(acme)))
    assert entry_texts.count("reordered the rules") == 1
    assert entry_texts[0] == "reordered the rules"


def test_audit_log_describes_undone_changes(owner, api, acme, books):
    transactions = f"/app/companies/{acme.id}/transactions"
    answer = owner.post(transactions, {"act": "uncategorize", "id": books["transactions"]})
    run = re.search(r"run=([^&]+)", answer["Location"])[1]
    owner.post(transactions, {"act": "undo", "run": run})
    answer = owner.get(build_page_path(acme))
    assert list_entry_texts(answer)[0] == "undid the changes to 3 transactions"
    assert "unchanged" not in get_page_text(answer)
    assert "act:" not in get_page_text(answer)

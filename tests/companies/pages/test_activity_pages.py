"""The log as people find their way in it: by person, by kind of thing, by day, in sentences."""

import re
from html import unescape

import pytest

from companies.models import AuditEntry
from companies.pages.settings.log_words import ACTS, KINDS, VERBS
from companies.permissions import Role
from tests import factories
from tests.test_house import ROOT, SOURCES

pytestmark = pytest.mark.django_db
TOLD_ONLY = {"transactions.csv", "transactions.xlsx", "apiKey.creatorLeft"}  # files and notifications, no acts
AN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


def page(company, query=""):
    return f"/app/companies/{company.id}/settings/activity{query}"


def lines(answer):
    """What the rows say: who did what."""
    rows = re.findall(r'class="what text".*?</strong>(.*?)<', answer.content.decode(), re.DOTALL)
    return [unescape(row).strip() for row in rows]


def text_of(answer):
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


def test_each_entry_is_a_sentence_without_ids_and_names_of_columns(owner, api, acme, books):
    answer = owner.get(page(acme))
    said = lines(answer)
    assert said[0] == "changed the account “Giro”"
    assert said[1] == "categorized 3 transactions"
    assert said[2:5] == ["added the transaction “Nimbus”"] * 3
    shown = text_of(answer).partition("Change ")[2]
    assert not AN_ID.search(shown)
    words = re.sub(r"…\w+|IBAN", "", shown)  # a key's last letters are any
    assert not re.search(r"\b[a-z]+_[a-z]+\b|\b[a-z]+[A-Z][a-z]+\b", words), "as columns are called"
    assert "Some Person changed the account" in text_of(answer)
    assert "Key “test” categorized" in text_of(answer)


def test_the_log_is_found_by_person_thing_and_day(owner, alice, acme, books):
    assert lines(owner.get(page(acme), {"person": str(alice.pk)})) == ["changed the account “Giro”"]
    assert lines(owner.get(page(acme), {"kind": "account"})) == [
        "changed the account “Giro”", "added the account “Giro”",
    ]  # fmt: skip
    one = {"kind": "transaction", "thing": books["transactions"][0]}
    assert lines(owner.get(page(acme), one)) == ["added the transaction “Nimbus”"]
    day = str(AuditEntry.objects.of(acme.id).latest("time").time.date())
    assert len(lines(owner.get(page(acme), {"from": day, "to": day, "kind": "account"}))) == 2
    assert "Nothing matches" in text_of(owner.get(page(acme), {"to": "2020-01-01"}))
    assert lines(owner.get(page(acme), {"person": "x\0y"})) == []
    answer = owner.get(page(acme), {"from": "soon"})
    assert (answer.status_code, 'id="from-error"' in answer.content.decode()) == (400, True)


def test_the_filters_go_along_to_the_next_page(owner, api, acme, books):
    for number in range(60):
        api.post("account_groups", {"name": f"Group {number}"})
    answer = owner.get(page(acme), {"kind": "accountGroup"})
    following = unescape(re.search(r'href="(\?[^"]*cursor=[^"]*)" rel="next"', answer.content.decode())[1])
    rest = lines(owner.get(page(acme, following)))
    assert len(rest) == 24
    assert rest[-1] == "added the account group “Group 0”"


def test_what_the_visitor_may_not_see_is_not_named(browser_of, api, acme, books):
    eve = factories.member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["audit:read"])
    answer = browser_of(eve, acme).client.get(page(acme))
    assert "added the transaction" in lines(answer)
    assert "An API key added the transaction" in text_of(answer)
    assert "Key “test” added" not in text_of(answer)
    assert "Some Person" not in text_of(answer).partition("Sign out")[2].replace("Me", "")


def test_every_act_of_the_log_has_words():
    """Of the acts that the code writes: each is a verb of a thing that people know, or has a sentence of its own."""
    kinds = "|".join([*KINDS, "transactions", "plannedTransactions", "subscriptionEvents"])
    acts = re.compile(rf'"((?:{kinds})\.[a-zA-Z]+)"')
    product = [path for path in SOURCES if path.relative_to(ROOT).parts[0] != "tests"]
    written = {act for path in product for act in acts.findall(path.read_text())}
    known = {f"{kind}.{act}" for kind in KINDS for act in VERBS} | ACTS.keys()
    assert len(written) > 60
    assert written - known == TOLD_ONLY


@pytest.mark.parametrize("words", ["to=9999-12-31", "from=0001-01-01", "from=9999-12-31&to=0001-01-01"])
def test_the_first_and_the_last_day_there_is_are_days(owner, acme, words):
    assert owner.get(f"/app/companies/{acme.id}/settings/activity?{words}").status_code == 200


def test_what_was_deleted_is_named_and_codes_are_words(owner, api, acme, books):
    api.delete(f"transactions/{books['transactions'][0]}")
    assert api.post("categories", {"name": "Ads", "plTypes": ["cac"]}).status_code == 201
    answer = owner.get(page(acme))
    assert "deleted the transaction “Nimbus”" in lines(answer)
    assert "P&L lines: Sales and marketing" in text_of(answer)


def test_one_that_moves_is_one_sentence_and_an_order_of_rules_another(owner, api, acme):
    made = [api.post("account_groups", {"name": f"Group {number}"}).json()["id"] for number in range(3)]
    assert owner.post(f"/app/companies/{acme.id}/accounts/groups/{made[2]}/move", {"to": "up"}).status_code == 303
    said = lines(owner.get(page(acme)))
    assert said[:2] == ["moved the account group “Group 2” to place 2", "added the account group “Group 2”"]
    rule = {"conditions": {"text": {"operator": "contains", "value": "a"}}}
    hosting = next(each["id"] for each in api.get("categories").json() if each["systemKey"] == "hosting")
    rules = [
        api.post("categorization_rules", rule | {"name": name, "action": {"categoryId": hosting}}).json()["id"]
        for name in "abc"
    ]
    for _ in range(2):
        api.put("categorization_rules/order", {"ids": rules[::-1]})
    said = lines(owner.get(page(acme)))
    assert said.count("put the rules into another order") == 1
    assert said[0] == "put the rules into another order"


def test_what_was_taken_back_is_a_sentence_without_codes_and_zeros(owner, api, acme, books):
    transactions = f"/app/companies/{acme.id}/transactions"
    answer = owner.post(transactions, {"act": "uncategorize", "id": books["transactions"]})
    run = re.search(r"run=([^&]+)", answer["Location"])[1]
    owner.post(transactions, {"act": "undo", "run": run})
    answer = owner.get(page(acme))
    assert lines(answer)[0] == "took back what was done to 3 transactions"
    assert "kept" not in text_of(answer)
    assert "act:" not in text_of(answer)

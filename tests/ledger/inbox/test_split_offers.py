"""Payments that need more than a category: stated parts, the split of the last payment, and stated service periods."""

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companies.permissions import ALL_PERMISSIONS, Permission
from tests import factories
from tests.ledger.conftest import get_page_text, list_pl_amounts

pytestmark = pytest.mark.django_db
LOAN = {"fromTo": "Sparkasse KölnBonn", "description": "Darlehen 6001234567 Rate 10/26 Tilgung 1.850,00 Zins 212,50"}
INSURANCE = {"fromTo": "Allianz Versicherungs-AG", "description": "Betriebshaftpflicht 01.10.2026-30.09.2027 VS-Nr 88"}
PERIOD_BUTTON = "Period in the text: 1 Oct 2026 – 30 Sep 2027 · Spread over 12 months"


@pytest.fixture
def inbox_path(acme):
    return f"/app/companies/{acme.id}/inbox"


def list_offers(answer):
    """Return the label, the address and whether the key a presses it, of each offer of a split on a page."""
    links = re.findall(r'<a class="button small[^"]*"([^>]*)>([^<]*)</a>', answer.content.decode())
    offers = [(label, re.search(r'href="([^"]+)"', attributes)[1], attributes) for attributes, label in links]
    return [
        (html.unescape(label), html.unescape(address), 'data-shortcut-key="a"' in attributes)
        for label, address, attributes in offers
        if "category-0=" in address and label != "Split"
    ]


def read_form(answer):
    """Return the fields of the split form as a browser sends them."""
    form = answer.content.decode().partition("data-split=")[2].partition("</form>")[0]
    fields = {}
    for tag in re.findall(r"<input [^>]*>", form):
        name, value = re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)
        if name and 'type="checkbox"' not in tag:
            fields[name[1]] = html.unescape(value[1]) if value else ""
    for name, options in re.findall(r'<select [^>]*name="([^"]+)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        fields[name] = chosen[1] if chosen else ""
    return fields


def save_offer(editor, address):
    """Open the form of an offer and save it as it is; return the values of its first rows."""
    fields = read_form(editor.get(address))
    saved = editor.post(address, fields)
    assert saved.status_code == 303, get_page_text(saved)
    return fields


def split(books, transaction_id, *parts):
    answer = books.set_categorizations(transaction_id, *parts)
    assert answer.status_code == 200, answer.content


def split_loan(books, bank, day="2026-03-15", repayment=-1850, interest=-212.5, **texts):
    """Create a payment of a loan that is split into repayment and interest."""
    row = books.create_transaction(bank, f"{repayment + interest:.2f}", day, **LOAN | texts)["id"]
    parts = (("financing", "neutral", repayment), ("interest", "no", interest))
    split(
        books,
        row,
        *({"categoryId": books.get_category_id(key), "plSplit": {line: amount}} for key, line, amount in parts),
    )
    return row


# ---------------------------------------------------------------------------------------------- stated parts


def test_stated_parts_are_saved_with_one_click(editor, inbox_path, books, bank):
    row = books.create_transaction(bank, "-2062.50", **LOAN)["id"]
    shown = editor.get(inbox_path)
    ((label, address, has_key),) = list_offers(shown)
    assert (label, has_key) == ("Split as stated: Repayment 1,850.00 · Interest 212.50", True)
    assert not re.search(r'class="button small primary"[^>]*name="category"', shown.content.decode())
    assert "Suggested values. Check them, then save." in get_page_text(editor.get(address))
    save_offer(editor, address)
    assert [list_pl_amounts(part) for part in books.list_categorizations(row)] == [{"neutral": -1850}, {"no": -212.5}]
    assert [part["categoryId"] for part in books.list_categorizations(row)] == [
        books.get_category_id("financing"),
        books.get_category_id("interest"),
    ]


def test_split_from_the_inbox_is_undone_there(editor, inbox_path, books, bank):
    row = books.create_transaction(bank, "-2062.50", **LOAN)["id"]
    ((_, address, _),) = list_offers(editor.get(inbox_path))
    saved = editor.post(address, read_form(editor.get(address)), follow=True)
    run = re.search(r'name="run" value="([^"]+)"', saved.content.decode())[1]
    undone = editor.post(inbox_path, {"act": "undo", "run": run}, follow=True)
    assert "1 transaction restored." in get_page_text(undone)
    assert books.list_categorizations(row) == []


def test_split_page_offers_the_stated_parts(editor, acme, books, bank):
    row = books.create_transaction(bank, "-2062.50", **LOAN)["id"]
    path = f"/app/companies/{acme.id}/transactions/{row}/split"
    ((label, query, _),) = list_offers(editor.get(path, {"then": "open=true"}))
    assert label == "Split as stated: Repayment 1,850.00 · Interest 212.50"
    assert "then=open%3Dtrue" in query
    assert list_offers(editor.get(path + query)) == []
    save_offer(editor, path + query)
    assert list_offers(editor.get(path)) == [], "it is categorized"


@pytest.mark.parametrize("text", [LOAN["description"], "Darlehen 6001234567 Tilgung und Zins 10/2026"])
def test_loan_payment_that_names_parts_without_their_amounts_is_never_one_category(
    editor, inbox_path, books, bank, text
):
    """The form has the categories, and the person enters the amounts."""
    row = books.create_transaction(bank, "-2062.51", **LOAN | {"description": text})["id"]
    inbox = editor.get(inbox_path)
    ((label, address, has_key),) = list_offers(inbox)
    assert (label, has_key) == ("Split into repayment and interest", True)
    assert not re.search(r'<button [^>]*name="category"', inbox.content.decode())
    for page in ("accept", "groups"):
        assert row not in re.findall(r'value="([0-9a-f-]{36}) ', editor.get(f"{inbox_path}/{page}").content.decode())
    fields = read_form(editor.get(address))
    assert fields["category-0"] == f"{books.get_category_id('financing')}:neutral"
    assert fields["category-1"] == f"{books.get_category_id('interest')}:no"
    assert (fields["amount-0"], fields["amount-1"]) == ("", "")


def test_split_button_opens_the_suggested_parts(editor, inbox_path, books, bank):
    books.create_transaction(bank, "-2062.50", **LOAN)
    shown = editor.get(inbox_path).content.decode()
    address = html.unescape(re.search(r'href="([^"]+)" data-shortcut-key="p"', shown)[1])
    fields = read_form(editor.get(address))
    assert (fields["amount-0"], fields["amount-1"]) == ("-1850.00", "-212.50")


def test_stated_parts_have_the_categories_of_the_last_payment(editor, inbox_path, api, books, bank):
    interest = api.post("categories", {"name": "Loan costs", "plTypes": ["no"]}).json()["id"]
    bank_id = api.post("counterparties", {"type": "vendor", "name": "Sparkasse"}).json()["id"]
    past = books.create_transaction(bank, "-2062.50", "2026-03-01", **LOAN)["id"]
    split(
        books,
        past,
        {"categoryId": books.get_category_id("financing"), "plSplit": {"neutral": -1850}},
        {"categoryId": interest, "plSplit": {"no": -212.5}, "counterparty": {"id": bank_id}},
    )
    text = LOAN | {"description": "Darlehen 6001234567 Rate 11/26 Tilgung 1.855,00 Zins 207,50"}
    row = books.create_transaction(bank, "-2062.50", **text)["id"]
    ((label, address, _),) = list_offers(editor.get(inbox_path))
    assert label == "Split as stated: Repayment 1,855.00 · Interest 207.50"
    save_offer(editor, address)
    repayment, costs = books.list_categorizations(row)
    assert (list_pl_amounts(repayment), list_pl_amounts(costs)) == ({"neutral": -1855}, {"no": -207.5})
    assert (costs["categoryId"], costs["counterparty"]["id"]) == (interest, bank_id)


# ---------------------------------------------------------------------------------------------- the last split


@pytest.fixture
def past_split(api, books, bank):
    """A bill of two rates: 119.00 with 19 % and 53.50 with 7 %, of one vendor."""
    vendor = {"id": api.post("counterparties", {"type": "vendor", "name": "Nordlicht"}).json()["id"]}
    row = books.create_transaction(bank, "-172.50", "2026-03-10", fromTo="Nordlicht", description="Team")["id"]
    split(
        books,
        row,
        {
            "categoryId": books.get_category_id("marketing"),
            "plSplit": {"cac": -100},
            "passThroughTax": -19,
            "counterparty": vendor,
        },
        {"categoryId": books.get_category_id("officeAndAdmin"), "plSplit": {"ga": -50}, "passThroughTax": -3.5},
    )
    return row


def test_last_split_is_repeated(editor, inbox_path, books, bank, past_split):
    row = books.create_transaction(bank, "-172.50", "2026-04-10", fromTo="NORDLICHT", description="Board")["id"]
    ((label, address, has_key),) = list_offers(editor.get(inbox_path))
    assert (label, has_key) == ("Split as on 10 Mar", True)
    save_offer(editor, address)

    def list_values(transaction_id):
        return [
            (part["categoryId"], list_pl_amounts(part), part["passThroughTax"], part["counterparty"])
            for part in books.list_categorizations(transaction_id)
        ]

    assert list_values(row) == list_values(past_split)


def test_last_split_is_scaled_to_another_amount(editor, inbox_path, books, bank, past_split):
    row = books.create_transaction(bank, "-100.00", "2027-01-10", fromTo="Nordlicht", description="Board")["id"]
    ((label, address, _),) = list_offers(editor.get(inbox_path))
    assert label == "Split as on 10 Mar 2026"
    save_offer(editor, address)
    first, second = books.list_categorizations(row)
    assert (list_pl_amounts(first), first["passThroughTax"]) == ({"cac": -57.97}, -11.02)
    assert (list_pl_amounts(second), second["passThroughTax"]) == ({"ga": -28.98}, -2.03)


def test_split_that_an_address_cannot_hold_is_not_offered(editor, inbox_path, api, books, bank, hosting):
    def split_into(count, day):
        row = books.create_transaction(bank, f"-{count}.00", day, fromTo="Nordlicht")["id"]
        part = {"categoryId": hosting, "plSplit": {"cogs": -1}, "counterparty": {"id": vendor}}
        split(books, row, *[part] * count)

    vendor = api.post("counterparties", {"type": "vendor", "name": "ä" * 40}).json()["id"]
    books.create_transaction(bank, "-10.00", "2026-04-10", fromTo="Nordlicht")
    split_into(5, "2026-03-10")
    assert len(list_offers(editor.get(inbox_path))) == 1
    split_into(20, "2026-03-11")
    assert list_offers(editor.get(inbox_path)) == []


def test_payment_of_another_kind_or_direction_is_not_split(editor, inbox_path, books, bank):
    split_loan(books, bank, description="Darlehen 6001234567 Rate 3/26")
    books.create_transaction(bank, "-28.90", fromTo="Sparkasse KölnBonn", description="Kontoführung")
    books.create_transaction(bank, "2062.50", fromTo="Sparkasse KölnBonn", description="Darlehen Auszahlung")
    assert list_offers(editor.get(inbox_path)) == []
    books.create_transaction(bank, "-2062.50", fromTo="Sparkasse KölnBonn", description="Darlehen 6001 Rate 4/26")
    assert [label for label, *_ in list_offers(editor.get(inbox_path))] == ["Split as on 15 Mar"]


def test_split_is_not_offered_once_the_latest_payment_had_one_category(editor, inbox_path, books, bank, past_split):
    whole = books.create_transaction(bank, "-50.00", "2026-03-20", fromTo="Nordlicht")["id"]
    split(books, whole, {"categoryId": books.get_category_id("marketing"), "plSplit": {"cac": -50}})
    books.create_transaction(bank, "-172.50", "2026-04-10", fromTo="Nordlicht")
    assert list_offers(editor.get(inbox_path)) == []


# ---------------------------------------------------------------------------------------------- service periods


def test_stated_period_is_opened_with_the_suggested_category(editor, inbox_path, books, bank, office):
    row = books.create_transaction(bank, "-3600.00", **INSURANCE)["id"]
    inbox = editor.get(inbox_path)
    ((label, address, has_key),) = list_offers(inbox)
    assert (label, has_key) == (PERIOD_BUTTON, True)
    assert not re.search(r'<button [^>]*name="category"', inbox.content.decode()), "a category alone has no period"
    save_offer(editor, address)
    (part,) = books.list_categorizations(row)
    assert (part["categoryId"], list_pl_amounts(part)) == (office, {"ga": -3600})
    rule = part["usingDateRule"]
    assert (rule["type"], rule["startDate"], rule["endDate"]) == ("servicePeriod", "2026-10-01", "2027-09-30")


def test_stated_period_keeps_the_usual_tax_and_counterparty(editor, inbox_path, api, books, bank, hosting):
    vendor = {"id": api.post("counterparties", {"type": "vendor", "name": "Cloud"}).json()["id"]}
    past = books.create_transaction(bank, "-119.00", "2026-02-01", fromTo="Cloud")["id"]
    part = {"categoryId": hosting, "plSplit": {"cogs": -100}, "passThroughTax": -19, "counterparty": vendor}
    split(books, past, part)
    row = books.create_transaction(bank, "-1190.00", fromTo="Cloud", description="Okt 2026 - Sep 2027")["id"]
    ((_, address, _),) = list_offers(editor.get(inbox_path))
    save_offer(editor, address)
    (part,) = books.list_categorizations(row)
    assert (list_pl_amounts(part), part["passThroughTax"]) == ({"cogs": -1000}, -190)
    assert part["counterparty"]["id"] == vendor["id"]


def test_counterparty_whose_name_others_have_is_filled_in_with_its_type(editor, inbox_path, api, books, bank, hosting):
    api.post("counterparties", {"type": "customer", "name": "cloud"})
    vendor = {"id": api.post("counterparties", {"type": "vendor", "name": "Cloud"}).json()["id"]}
    past = books.create_transaction(bank, "-100.00", "2026-02-01", fromTo="Cloud")["id"]
    split(books, past, {"categoryId": hosting, "plSplit": {"cogs": -100}, "counterparty": vendor})
    row = books.create_transaction(bank, "-1200.00", fromTo="Cloud", description="Okt 2026 - Sep 2027")["id"]
    ((_, address, _),) = list_offers(editor.get(inbox_path))
    assert save_offer(editor, address)["counterparty-0"] == "Cloud (vendor)"
    assert books.list_categorizations(row)[0]["counterparty"]["id"] == vendor["id"]


def test_form_of_a_payment_with_a_period_has_it_selected(editor, acme, books, bank):
    row = books.create_transaction(bank, "-3600.00", **INSURANCE)["id"]
    fields = read_form(editor.get(f"/app/companies/{acme.id}/transactions/{row}/split"))
    period = (fields["rule-0"], fields["start-0"], fields["end-0"])
    assert period == ("servicePeriod", "2026-10-01", "2027-09-30")
    assert (fields["category-0"], fields["rule-1"]) == ("", "transactionDate")


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(INSURANCE | {"description": "Miete Oktober 2026"}, id="one month"),
        pytest.param({"fromTo": "Finanzamt Köln", "description": "Umsatzsteuer 07/2026-09/2026"}, id="no result"),
        pytest.param({"fromTo": "Acme", "description": "01.10.2026-30.09.2027"}, id="own transfer"),
    ],
)
def test_payment_without_a_result_of_several_months_has_no_offer(editor, inbox_path, books, bank, values):
    books.create_transaction(bank, "-3600.00", **values)
    assert list_offers(editor.get(inbox_path)) == []


# ---------------------------------------------------------------------------------------------- many at once


@pytest.mark.parametrize("page", ["accept", "groups"])
def test_payments_are_left_out_and_listed_where_many_are_categorized(editor, inbox_path, books, bank, past_split, page):
    rows = [
        books.create_transaction(bank, "-2062.50", "2026-04-04", **LOAN)["id"],
        books.create_transaction(bank, "-172.50", "2026-04-03", fromTo="Nordlicht")["id"],
        books.create_transaction(bank, "-3600.00", "2026-04-02", **INSURANCE)["id"],
    ]
    hosting = books.create_transaction(bank, "-9.00", "2026-04-01", fromTo="Hetzner Online GmbH")["id"]
    shown = editor.get(f"{inbox_path}/{page}")
    values = re.findall(r'name="(?:suggestion|transaction)" value="([^" ]+)', shown.content.decode())
    assert values == [hosting]
    text = "3 payments are not included. Review them separately: they have to be split or spread over months."
    assert text in get_page_text(shown)
    offers = list_offers(shown)
    assert [label.partition(":")[0] for label, *_ in offers] == [
        "Split as stated",
        "Split as on 10 Mar",
        "Period in the text",
    ]
    assert [row in address for row, (_, address, _) in zip(rows, offers, strict=True)] == [True, True, True]


def test_choice_is_not_repeated_for_payments_with_a_period(editor, inbox_path, books, bank):
    first = books.create_transaction(bank, "-10.00", fromTo="Cloud")["id"]
    books.create_transaction(bank, "-1190.00", fromTo="Cloud", description="Okt 2026 - Sep 2027")
    form = {"act": "accept", "id": first, "category": f"{books.get_category_id('hosting')}:cogs"}
    assert "more transaction" not in get_page_text(editor.post(inbox_path, form, follow=True))


# ---------------------------------------------------------------------------------------------- who, and how much


def test_readers_and_closed_months_have_no_offers(editor, sign_in_browser, bob, acme, inbox_path, api, books, bank):
    books.create_transaction(bank, "-2062.50", **LOAN)
    assert list_offers(sign_in_browser(bob, acme).client.get(inbox_path)) == []
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    assert list_offers(editor.get(inbox_path)) == []


@pytest.mark.parametrize(
    ("hidden", "field"), [("categories:read", "category-0"), ("counterparties:read", "counterparty-0")]
)
def test_names_that_a_user_may_not_see_are_left_out(
    editor, sign_in_browser, acme, inbox_path, books, bank, past_split, hidden, field
):
    books.create_transaction(bank, "-172.50", fromTo="Nordlicht")
    held = [each.value for each in Permission if each in ALL_PERMISSIONS and each.value != hidden]
    member = factories.make_member(acme, "some@acme.example", permissions=held)
    for client, is_shown in ((editor, True), (sign_in_browser(member, acme).client, False)):
        ((_, address, _),) = list_offers(client.get(inbox_path))
        fields = read_form(client.get(address))
        assert (bool(fields[field]), fields["amount-0"]) == (is_shown, "-100.00")


def test_values_of_the_address_are_only_shown(editor, acme, books, bank):
    """Nothing is saved, and nothing but what a row may have is taken."""
    row = books.create_transaction(bank, "-10.00")["id"]
    path = f"/app/companies/{acme.id}/transactions/{row}/split"
    given = {"category-0": "x", "amount-0": "<b>1</b>", "key-0": row, "note-0": "note", "remove-0": "on"}
    shown = editor.get(path, given | {"rule-0": "unknown", "start-0": "yesterday", "counterparty-0": "Nobody"})
    fields = read_form(shown)
    assert (fields["amount-0"], fields["key-0"], fields["note-0"]) == ("<b>1</b>", "", "")
    assert books.list_categorizations(row) == []
    assert editor.post(path, fields).status_code == 400
    assert editor.get(path, {f"category-{number}": "" for number in range(900)}).status_code == 200


def test_offers_take_the_same_statements_for_any_number(editor, inbox_path, books, bank, past_split):
    counts = []
    for number in range(2):
        for _ in range(1 + 3 * number):
            books.create_transaction(bank, "-2062.50", **LOAN)
            books.create_transaction(bank, "-172.50", fromTo="Nordlicht")
            books.create_transaction(bank, "-3600.00", **INSURANCE)
        editor.get(inbox_path)
        with CaptureQueriesContext(connection) as captured:
            assert len(list_offers(editor.get(inbox_path))) == 3 + 12 * number
        counts.append(len(captured))
    assert counts[0] == counts[1]

"""Pages of receivables and payables: aging, what is due this week, settling with an amount, writing off."""

import re
from urllib.parse import urlsplit

import pytest

from tests.page_text import get_page_text
from tests.planning.invoices.conftest import format_day

pytestmark = pytest.mark.django_db


def build_path(acme, kind, query=""):
    return f"/app/companies/{acme.id}/{kind}{query}"


def build_occurrence_path(acme, invoice, act):
    return f"/app/companies/{acme.id}/planned/{invoice['id']}/occurrences/{invoice['startDate']}/{act}"


def test_receivables_page_shows_aging_due_week_and_invoices(owner, acme, ledger):
    customer = ledger.create_counterparty("Globex")
    ledger.create_invoice("70.00", name="Late", days=-40, counterparty=customer)
    ledger.create_invoice("30.00", name="Soon", days=3)
    ledger.create_invoice("-5.00", name="Bill", days=3)
    text = get_page_text(owner.get(build_path(acme, "receivables")))
    assert "€100.00 open in total" in text
    assert "31–60 days overdue 70 % €70.00" in text
    assert "Not due yet 30 % €30.00" in text
    assert "40 days overdue Late overdue Globex" in text
    due_this_week = text[text.index("Due this week") :]
    assert "Soon" in due_this_week[: due_this_week.index("All with an open amount")]
    assert "Bill" not in text
    assert "Bill" in get_page_text(owner.get(build_path(acme, "payables")))


def test_invoice_is_settled_with_an_amount_and_returns_to_the_list(owner, acme, api, ledger):
    owed = ledger.create_invoice("100.00", days=-3)
    body = {"accountId": ledger.account, "date": format_day(-2), "amountValue": "80.00", "fromTo": "Globex"}
    paid = api.post("transactions", body).json()["id"]
    settle_path = build_occurrence_path(acme, owed, "settle")
    shown = owner.get(f"{settle_path}?from=receivables").content.decode()
    assert 'name="from" value="receivables"' in shown
    sent = {"transactionId": paid, "amountValue": "60.00", "from": "receivables"}
    answer = owner.post(settle_path, sent, follow=True)
    assert answer.redirect_chain[-1][0] == build_path(acme, "receivables")
    assert [row["openAmountValue"] for row in ledger.list_invoices()] == ["40.00"]
    wrong = owner.post(settle_path, sent | {"amountValue": "x"}, follow=True)
    assert "60.00" in get_page_text(wrong), "what was settled stays"
    assert [row["openAmountValue"] for row in ledger.list_invoices()] == ["40.00"]


def test_rest_is_written_off_with_the_settlement_or_later(owner, acme, api, ledger):
    first, second = ledger.create_invoice("-100.00", days=-3), ledger.create_invoice("-50.00", days=-3)
    body = {"accountId": ledger.account, "date": format_day(-2), "amountValue": "-98.00"}
    paid = api.post("transactions", body).json()["id"]
    owner.post(build_occurrence_path(acme, first, "settle"), {"transactionId": paid, "closeRest": "1"})
    (row,) = ledger.list_invoices("payables", state="writtenOff")
    assert (row["settledAmountValue"], row["writtenOffAmountValue"]) == ("-98.00", "-2.00")
    sent = {"reason": "Insolvent", "date": format_day(0), "from": "payables"}
    answer = owner.post(build_occurrence_path(acme, second, "write-off"), sent, follow=True)
    assert re.search(r" written off on \d+ \w+ \d{4}\.", get_page_text(answer))
    assert ledger.list_invoices("payables") == []
    history = get_page_text(owner.get(f"/app/companies/{acme.id}/planned/{second['id']}"))
    assert "written off Insolvent −€50.00" in history


def test_invoice_is_written_off_on_the_day_of_the_form(owner, acme, ledger):
    owed = ledger.create_invoice("-100.00", days=-30, invoiced=-60)
    shown = owner.get(build_path(acme, "payables")).content.decode()
    assert f'<input name="date" type="date" required value="{format_day(0)}">' in shown
    sent = {"reason": "Insolvent", "date": "2026-13-01", "from": "payables"}
    refused = owner.post(build_occurrence_path(acme, owed, "write-off"), sent, follow=True)
    assert "This date does not exist." in get_page_text(refused)
    owner.post(build_occurrence_path(acme, owed, "write-off"), sent | {"date": format_day(-5)})
    assert [row["openAmountValue"] for row in ledger.list_invoices("payables", asOf=format_day(-6))] == ["-100.00"]
    assert ledger.list_invoices("payables", asOf=format_day(-5)) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"reason": "x" * 501}, "Ensure this field has no more than 500 characters."),
        ({"reason": ""}, "This field is required."),
        ({"date": ""}, "Enter a date such as 2026-03-31."),
        ({"date": "9999-12-31"}, "Must not be after {last}."),
        ({"date": "1999-12-31"}, "Must not be before the invoice date, {invoiced}."),
    ],
)
def test_write_off_form_rejects_what_the_api_rejects(owner, acme, api, ledger, values, message):
    owed = ledger.create_invoice("-100.00", days=-3, invoiced=-8)
    sent = {"reason": "Insolvent", "date": format_day(0)} | values
    refused = owner.post(build_occurrence_path(acme, owed, "write-off"), sent | {"from": "payables"}, follow=True)
    assert message.format(last=format_day(366), invoiced=format_day(-8)) in get_page_text(refused)
    answer = api.post(f"planned_transactions/{owed['id']}/write_off", sent)
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"]) == (400, f"#/{next(iter(values))}")
    assert [row["openAmountValue"] for row in ledger.list_invoices("payables")] == ["-100.00"]


@pytest.mark.parametrize(("amount", "typed", "is_accepted"), [
    ("100.00", "-60", False), ("100.00", "60", True), ("-100.00", "-60", True), ("-100.00", "60", True),
])  # fmt: skip
def test_settled_amount_has_the_planned_sign(owner, acme, api, ledger, amount, typed, is_accepted):
    owed = ledger.create_invoice(amount, days=-3)
    body = {"accountId": ledger.account, "date": format_day(-2), "amountValue": amount}
    paid = api.post("transactions", body).json()["id"]
    sent = {"transactionId": paid, "amountValue": typed}
    shown = get_page_text(owner.post(build_occurrence_path(acme, owed, "settle"), sent, follow=True))
    assert ("Must have the sign of the planned amount." in shown) is not is_accepted
    open_amounts = [
        row["openAmountValue"] for kind in ("receivables", "payables") for row in ledger.list_invoices(kind)
    ]
    left = "40.00" if is_accepted else "100.00"
    assert open_amounts == [left if amount == "100.00" else f"-{left}"]


@pytest.mark.parametrize("return_page", ["payables", "plan", "rule"])
def test_write_off_is_undone_from_its_message_and_payments_stay(owner, acme, api, ledger, return_page):
    owed = ledger.create_invoice("-100.00", days=-3)
    body = {"accountId": ledger.account, "date": format_day(-2), "amountValue": "-60.00"}
    paid = api.post("transactions", body).json()["id"]
    owner.post(build_occurrence_path(acme, owed, "settle"), {"transactionId": paid})
    sent = {"reason": "Insolvent", "date": format_day(0), "from": return_page}
    answer = owner.post(build_occurrence_path(acme, owed, "write-off"), sent, follow=True)
    assert re.search(r" written off on \d+ \w+ \d{4}\. Undo", get_page_text(answer))
    assert ledger.list_invoices("payables") == []
    address, fields = read_undo_form(answer)
    undone = owner.post(address, fields, follow=True)
    assert "is no longer written off." in get_page_text(undone)
    assert urlsplit(undone.redirect_chain[-1][0]).path == urlsplit(answer.redirect_chain[-1][0]).path
    (row,) = ledger.list_invoices("payables")
    assert (row["settledAmountValue"], row["openAmountValue"]) == ("-60.00", "-40.00")
    again = owner.post(address, fields, follow=True)
    assert "The occurrence is not settled." in get_page_text(again)
    assert ledger.list_invoices("payables") == [row]


def test_write_off_in_the_list_of_settlements_is_taken_back_alone(owner, acme, api, ledger):
    owed = ledger.create_invoice("-100.00", days=-3)
    body = {"accountId": ledger.account, "date": format_day(-2), "amountValue": "-60.00"}
    paid = api.post("transactions", body).json()["id"]
    owner.post(build_occurrence_path(acme, owed, "settle"), {"transactionId": paid, "closeRest": "1"})
    shown = owner.get(f"/app/companies/{acme.id}/planned/{owed['id']}").content.decode()
    assert 'name="writeOffs"' in shown
    owner.post(build_occurrence_path(acme, owed, "unsettle"), {"writeOffs": "1"})
    (row,) = ledger.list_invoices("payables")
    assert (row["settledAmountValue"], row["openAmountValue"]) == ("-60.00", "-40.00")


@pytest.mark.parametrize("written_off", ["x", "x.2026-01-01", "00000000-0000-7000-8000-000000000000.x", "."])
def test_malformed_undo_of_write_off_is_ignored(owner, acme, written_off):
    for path in ("receivables", "payables", "planned"):
        assert owner.get(build_path(acme, path, f"?writtenOff={written_off}")).status_code == 200


def read_undo_form(answer):
    """The address and fields of the form that the message offers."""
    form = re.search(
        r'(?s)<form method="post" action="([^"]+)" class="notice undo">(.*?)</form>', answer.content.decode()
    )
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', form[2]))
    return form[1], {name: value for name, value in fields.items() if name != "csrfmiddlewaretoken"}


def test_state_filter_lists_paid_invoices(owner, acme, ledger):
    owed = ledger.create_invoice("10.00", name="Done")
    ledger.pay_invoice(owed, "10.00", -1)
    assert "Done" not in get_page_text(owner.get(build_path(acme, "receivables")))
    assert "Done" in get_page_text(owner.get(build_path(acme, "receivables", "?state=paid")))
    assert owner.get(build_path(acme, "receivables", "?state=x")).status_code == 200


def test_invoice_page_shows_due_and_expected_dates(owner, acme, api, ledger):
    owed = ledger.create_invoice("10.00", externalData={"invoiceNumber": "R-7", "dueDate": format_day(20)})
    text = get_page_text(owner.get(f"/app/companies/{acme.id}/planned/{owed['id']}"))
    assert "Invoice number R-7" in text
    assert "Expected" in text


def test_page_queries_do_not_grow_with_invoices(owner, acme, ledger, django_assert_max_num_queries):
    customer = ledger.create_counterparty("Globex")
    counted = []
    owner.get(build_path(acme, "receivables"))
    for count in (1, 5):
        for _ in range(count):
            ledger.create_invoice("10.00", days=3, counterparty=customer)
        with django_assert_max_num_queries(30) as seen:
            owner.get(build_path(acme, "receivables"))
        counted.append(len(seen.captured_queries))
    assert counted[0] == counted[1]


def test_payment_terms_are_set_on_the_forms(owner, acme, api, ledger):
    customer = ledger.create_counterparty("Globex")
    path = f"/app/companies/{acme.id}/settings/counterparties/{customer['id']}"
    shown = owner.get(path)
    if shown.status_code == 404:
        pytest.fail("the address of the counterparty form changed")
    owner.post(path, {"name": "Globex", "type": "customer", "externalId": "", "paymentTerms": "14"})
    (stored,) = [row for row in api.get("counterparties").json() if row["id"] == customer["id"]]
    assert stored["paymentTerms"] == 14
    answer = owner.post(path, {"name": "Globex", "type": "customer", "externalId": "", "paymentTerms": "-1"})
    assert answer.status_code == 400


def test_payments_that_name_the_customer_or_number_are_offered_first(owner, acme, api, ledger):
    """A partial payment is found among many of nearer amounts."""
    customer = ledger.create_counterparty("Globex")
    owed = ledger.create_invoice("1000.00", days=-3, counterparty=customer, externalData={"invoiceNumber": "RE-7001"})
    texts = [("Other", "Subscription")] * 16 + [("GLOBEX GmbH", "Part"), ("Someone", "for re-7001")]
    for place, (name, description) in enumerate(texts):
        amount = "990.00" if name == "Other" else f"{place}.00"
        body = {"accountId": ledger.account, "date": format_day(-2), "amountValue": amount}
        assert api.post("transactions", body | {"fromTo": name, "description": description}).status_code == 201
    shown = get_page_text(owner.get(build_occurrence_path(acme, owed, "settle")))
    assert shown.index("for re-7001") < shown.index("GLOBEX GmbH") < shown.index("Subscription")


def test_overdue_invoice_is_shown_as_partly_paid_too(owner, acme, ledger):
    ledger.create_invoice("10.00", name="Untouched", days=-3)
    ledger.pay_invoice(ledger.create_invoice("100.00", name="Begun", days=-3), "40.00", -1)
    for path in ("receivables", "planned"):
        text = get_page_text(owner.get(build_path(acme, path)))
        assert re.search(r"Begun[^.]*? overdue partly paid", text), text
        assert not re.search(r"Untouched overdue partly paid", text)


def test_receivables_are_shown_as_of_a_chosen_day(owner, acme, ledger):
    owed = ledger.create_invoice("100.00", invoiced=-50, days=-20)
    ledger.pay_invoice(owed, "100.00", -10)
    assert "€100.00 open in total" not in get_page_text(owner.get(build_path(acme, "receivables")))
    past = f"?asOf={format_day(-11)}"
    answer = owner.get(build_path(acme, "receivables", past))
    text = get_page_text(answer)
    assert "€100.00 open in total, by days since the due date. As of" in text
    assert "9 days overdue" in text
    assert "Settle…" not in text, "today it is paid"
    shown = answer.content.decode()
    assert f'name="asOf" type="date" value="{format_day(-11)}"' in shown
    download = re.search(r'href="([^"]+)" download', shown)[1]
    assert download.endswith(past)
    assert "100.00" in b"".join(owner.get(download).streaming_content).decode()


def test_wrong_day_of_receivables_is_a_form_error(owner, acme, api, ledger):
    ledger.create_invoice("100.00")
    for text in ("abc", "2026-02-30"):
        answer = owner.get(build_path(acme, "receivables", f"?asOf={text}"))
        assert (answer.status_code, api.get("receivables", {"asOf": text}).status_code) == (400, 400)
        assert 'id="asOf-error"' in answer.content.decode()
        assert "€100.00 open in total" in get_page_text(answer)
        csv_path = re.search(r'href="([^"?]+)[^"]*" download', answer.content.decode())[1]
        refused = owner.get(f"{csv_path}?asOf={text}", follow=True)
        assert (refused.status_code, refused["Content-Type"]) == (400, "text/html; charset=utf-8")

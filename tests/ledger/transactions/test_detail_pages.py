"""The pages of one transaction: details, fields and categorizations."""

import html
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.models import Transaction
from tests import factories
from tests.change_tables import list_changes
from tests.ledger.conftest import find_field_error, get_page_text, list_pl_amounts
from tests.rollback import undo_changes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


@pytest.fixture
def bill_id(books, bank):
    return books.create_transaction(
        bank, "-119.00", fromTo="Nimbus Cloud", description="March hosting", notes="paid late"
    )["id"]


def build_split_form(*parts, **more):
    """The editor's form: each part its fields."""
    form = {f"{name}-{number}": value for number, part in enumerate(parts) for name, value in part.items()}
    return form | more


# ---------------------------------------------------------------------------------------------- all that is known


def test_transaction_page_shows_fields_split_documents_and_history(pages, books, bill_id, acme, api):
    nimbus = factories.make_customer(acme, "Nimbus")
    net = {
        "categoryId": books.get_category_id("hosting"),
        "plSplit": {"cogs": -100},
        "passThroughTax": -19,
        "usingDateRule": {"type": "month"},
        "counterparty": {"id": str(nimbus.id)},
        "sourceNote": "invoice 12",
    }
    assert books.set_categorizations(bill_id, net).status_code == 200
    api.client.post(
        api.path("files"),
        {"file": SimpleUploadedFile("bill.pdf", PDF), "transactionIds": bill_id},
        headers=api.headers,
    )
    answer = pages.get(f"/{bill_id}")
    text = get_page_text(answer)
    for part in (
        *("Nimbus Cloud", "March hosting", "paid late", "−€119.00", "Hosting", "Cost of revenue", "−€100.00"),
        *("VAT", "−€19.00", "1 Mar 2026 – 31 Mar 2026", "Whole month", "invoice 12", "bill.pdf"),
    ):
        assert part in text, part
    _, categorized, created = list_changes(answer)
    assert categorized[:3] == ("Transaction categorized", "", "API key “test”")
    assert categorized.fields == {
        "Hosting": ("—", "−€119.00"),
        "Hosting — P&L line": ("—", "Cost of revenue"),
        "Hosting — Pass-through tax": ("—", "−€19.00"),
        "Hosting — Counterparty": ("—", "Nimbus"),
        "Hosting — Date rule": ("—", "Whole month"),
        "Hosting — Note": ("—", "invoice 12"),
    }
    assert (created.label, created.fields["Amount"]) == ("Transaction created", ("—", "−€119.00"))
    link = next(part for part in answer.content.decode().split('"') if part.endswith("/content"))
    assert b"".join(pages.client.get(link).streaming_content) == PDF
    assert f"?counterpartyId={nimbus.id}" in answer.content.decode()


def test_viewer_sees_no_forms_and_no_history(make_pages, bob, acme, bill_id):
    answer = make_pages(bob, acme).get(f"/{bill_id}")
    assert "March hosting" in get_page_text(answer)
    assert "History" not in get_page_text(answer)
    for path in ("edit", "delete", "split", "link", "unlink"):
        assert f"{bill_id}/{path}" not in answer.content.decode()
        assert make_pages(bob, acme).post(f"/{bill_id}/{path}").status_code == 403
    assert Transaction.objects.filter(id=bill_id).exists()


def test_queries_do_not_grow_with_parts_and_history(pages, books, bank, acme):
    def cost(key):
        pages.get(f"/{key}")
        with CaptureQueriesContext(connection) as queries:
            assert pages.get(f"/{key}").status_code == 200
        return len(queries)

    few, many = books.create_transaction(bank, "-100.00")["id"], books.create_transaction(bank, "-100.00")["id"]
    for key, count in ((few, 1), (many, 9)):
        who = [{"counterparty": {"id": str(factories.make_customer(acme).id)}} for _ in range(count)]
        part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -10}}
        for _ in range(count):
            assert books.set_categorizations(key, *(part | each for each in who)).status_code == 200
    assert cost(few) == cost(many) <= 22


# ---------------------------------------------------------------------------------------------- its own fields


def test_edit_form_changes_all_transaction_fields(pages, books, bill_id, bank, alice):
    form = {"accountId": bank, "date": "2026-03-20", "amountValue": "-120.00", "amountCurrency": "EUR", "fromTo": "N"}
    form |= {"description": "", "notes": "", "externalId": "x-1", "assignedUserId": str(alice.pk), "pending": "on"}
    assert pages.post(f"/{bill_id}/edit", **form).status_code == 303
    row = books.get_transaction(bill_id)
    assert (row["amountValue"], row["date"], row["fromTo"], row["notes"]) == ("-120.00", "2026-03-20", "N", None)
    assert (row["description"], row["pending"], row["externalId"], row["assignedUserId"]) == (
        *(None, True, "x-1"),
        str(alice.pk),
    )
    assert 'name="pending" checked' in pages.get(f"/{bill_id}/edit").content.decode()


def test_amount_of_zero_is_accepted_as_by_the_api(pages, api, bank):
    form = {"accountId": bank, "date": "2026-03-10", "amountValue": "0.00", "fromTo": "Fee waiver"}
    assert pages.post("/new", **form).status_code == 303
    (row,) = api.get("transactions", {"q": "Fee waiver"}).json()
    assert row["amountValue"] == "0.00"
    assert api.post("transactions", form).status_code == 201


def test_linked_transaction_amount_cannot_be_edited(pages, books, bill_id, savings):
    target = books.create_transaction(savings, "119.00")["id"]
    books.link_transfer(bill_id, target)
    assert (
        'id="amountValue" name="amountValue" required value="-119.00"' in pages.get(f"/{bill_id}/edit").content.decode()
    )
    form = pages.get(f"/{bill_id}/edit").content.decode().partition("<form")[2]
    assert form.count(" disabled") == 3
    assert pages.post(f"/{bill_id}/edit", date="2026-03-20", fromTo="N", description="").status_code == 303
    answer = pages.post(f"/{bill_id}/edit", amountValue="-1.00")
    assert answer.status_code == 400
    assert "This transaction belongs to a transfer. Unlink the transfer first." in get_page_text(answer)
    assert (books.get_transaction(bill_id)["amountValue"], books.get_transaction(bill_id)["fromTo"]) == ("-119.00", "N")


def test_initial_balance_notes_can_be_edited(pages, api, bank, books):
    api.put(f"accounts/{bank}/initial_balance", {"date": "2026-01-01", "amountValue": "10.00"})
    opening = api.get(f"accounts/{bank}/initial_balance").json()["transaction"]["id"]
    assert pages.post(f"/{opening}/edit", notes="from the statement").status_code == 303
    assert books.get_transaction(opening)["notes"] == "from the statement"


@pytest.mark.parametrize("path", ["edit", "split"])
def test_stale_form_does_not_overwrite_concurrent_change(path, pages, books, bill_id, api):
    body = pages.get(f"/{bill_id}/{path}").content.decode()
    seen = body.split('name="seen" value="')[1].split('"')[0]
    api.put(f"transactions/{bill_id}", {"description": "another person's"})
    answer = pages.post(f"/{bill_id}/{path}", seen=seen, description="mine", **build_split_form({"category": ""}))
    assert answer.status_code == 400
    assert re.search("has changed “.+” in the meantime", get_page_text(answer))
    assert books.get_transaction(bill_id)["description"] == "another person's"


def test_transaction_can_be_deleted_on_its_page(pages, books, bill_id, savings):
    target = books.create_transaction(savings, "119.00")["id"]
    books.link_transfer(bill_id, target)
    answer = pages.post(f"/{bill_id}/delete")
    assert answer.status_code == 303
    assert not Transaction.objects.filter(id=bill_id).exists()
    assert books.list_categorizations(target) == []


def test_deletion_returns_to_filtered_list_and_can_be_undone(pages, books, bill_id, savings):
    target = books.create_transaction(savings, "119.00")["id"]
    books.link_transfer(bill_id, target)
    before = books.list_categorizations(bill_id), books.list_categorizations(target)
    listed = pages.get(q="nimbus", direction="out").content.decode()
    address = html.unescape(re.search(rf'href="({pages.base}/{bill_id}[^"]*)"', listed)[1])
    page = pages.client.get(address)
    assert f'<a href="{pages.base}?q=nimbus&amp;direction=out">Transactions</a>' in page.content.decode()
    then = html.unescape(re.search(r'name="then" value="([^"]*)"', page.content.decode())[1])
    answer = pages.post(f"/{bill_id}/delete", then=then)
    assert answer["Location"].startswith(f"{pages.base}?q=nimbus&direction=out&run=")
    text = get_page_text(pages.client.get(answer["Location"]))
    assert "Transaction deleted." in text
    run = re.search(r"run=([^&]+)", answer["Location"])[1]
    pages.client.post(answer["Location"], {"act": "undo", "run": run})
    assert (books.list_categorizations(bill_id), books.list_categorizations(target)) == before
    undone, deleted, *_ = list_changes(pages.get(f"/{bill_id}"))
    assert (undone.label, undone.fields) == ("Bulk change undone (1)", {"Action": ("—", "delete")})
    assert deleted.label == "Transaction deleted"
    assert "Other side: Transaction deleted" in [change.label for change in list_changes(pages.get(f"/{target}"))]


# ---------------------------------------------------------------------------------------------- its parts


def test_transaction_can_be_split_over_categories(pages, books, bill_id, acme):
    factories.make_customer(acme, "Nimbus")
    hosting, support = books.get_category_id("hosting"), books.get_category_id("support")
    form = build_split_form(
        {"category": f"{hosting}:cogs", "amount": "-80.00", "tax": "-19", "counterparty": "Nimbus", "rule": "month"},
        {"category": "", "amount": ""},
        {"category": f"{support}:cogs", "amount": "-20", "note": "hotline"},
    )
    assert pages.post(f"/{bill_id}/split", **form).status_code == 303
    first, second = books.list_categorizations(bill_id)
    assert (list_pl_amounts(first), first["passThroughTax"], first["usingDateRule"]["type"]) == (
        {"cogs": -80},
        -19,
        "month",
    )
    assert (second["categoryId"], list_pl_amounts(second), second["sourceNote"]) == (support, {"cogs": -20}, "hotline")
    assert "Uncategorized" not in get_page_text(pages.get(f"/{bill_id}"))


def test_saving_unchanged_split_form_changes_nothing(pages, books, bill_id, acme, api):
    both = api.post("categories", {"name": "Rent", "plTypes": ["cogs", "ga"]}).json()["id"]
    who = {"type": "customer", "id": str(factories.make_customer(acme).id)}
    period = {"type": "servicePeriod", "startDate": "2026-03-01", "endDate": "2026-04-30", "invoiceDate": "2026-02-28"}
    two = {"categoryId": both, "plSplit": {"cogs": -40, "ga": -20}, "passThroughTax": -9, "counterparty": who}
    tax = {"categoryId": books.get_category_id("hosting"), "passThroughTax": -1}
    assert (
        books.set_categorizations(bill_id, two | {"usingDateRule": period, "sourceNote": "n"}, tax).status_code == 200
    )
    before = books.get_transaction(bill_id)["categorizations"]
    form = parse_split_form(pages.get(f"/{bill_id}/split").content.decode())
    assert pages.post(f"/{bill_id}/split", **form).status_code == 303
    assert books.get_transaction(bill_id)["categorizations"] == before


def parse_split_form(body):
    """What a browser would send of the editor."""
    import re

    form = dict(re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', body))
    for tag in re.findall(r"<input [^>]*>", body):
        name, value = re.search(r' name="([\w-]+)"', tag), re.search(r' value="([^"]*)"', tag)
        if name and value and "checkbox" not in tag and "csrf" not in tag:
            form[name[1]] = value[1]
    for name, options in re.findall(r'<select [^>]*name="([\w-]+)"[^>]*>(.*?)</select>', body, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        form[name] = chosen[1] if chosen else ""
    return {name: value for name, value in form.items() if name != "csrfmiddlewaretoken"}


def test_split_row_can_be_removed_or_moved_to_other_category(pages, books, bill_id, api):
    both = api.post("categories", {"name": "Rent", "plTypes": ["cogs", "ga"]}).json()["id"]
    books.set_categorizations(bill_id, {"categoryId": both, "plSplit": {"cogs": -40, "ga": -20}})
    form = parse_split_form(pages.get(f"/{bill_id}/split").content.decode())
    hosting = books.get_category_id("hosting")
    assert pages.post(f"/{bill_id}/split", **form | {"category-1": f"{hosting}:cogs"}).status_code == 303
    assert [list_pl_amounts(part) for part in books.list_categorizations(bill_id)] == [{"cogs": -40}, {"cogs": -20}]
    form = parse_split_form(pages.get(f"/{bill_id}/split").content.decode())
    assert pages.post(f"/{bill_id}/split", **form | {"remove-0": "on"}).status_code == 303
    (left,) = books.list_categorizations(bill_id)
    assert (left["categoryId"], list_pl_amounts(left)) == (hosting, {"cogs": -20})


def test_split_details_survive_removal_of_first_row_and_duplicate_names(pages, books, bill_id, acme, api):
    both = api.post("categories", {"name": "Rent", "plTypes": ["cogs", "ga"]}).json()["id"]
    who = {"type": "customer", "id": str(factories.make_customer(acme, "Twin").id)}
    factories.make_customer(acme, "Twin")
    books.set_categorizations(bill_id, {"categoryId": both, "plSplit": {"cogs": -40, "ga": -20}, "counterparty": who})
    form = parse_split_form(pages.get(f"/{bill_id}/split").content.decode()) | {"remove-0": "on"}
    assert pages.post(f"/{bill_id}/split", **form).status_code == 303
    (left,) = books.list_categorizations(bill_id)
    assert (list_pl_amounts(left), left["counterparty"]) == ({"ga": -20}, who)
    form = build_split_form({"category": f"{both}:ga", "amount": "-1", "counterparty": "Twin"})
    assert "Several counterparties" in find_field_error(pages.post(f"/{bill_id}/split", **form), "counterparty-0")
    assert pages.post(f"/{bill_id}/split", **form | {"counterparty-0": who["id"]}).status_code == 303


def test_invalid_split_row_shows_field_errors(pages, books, bill_id):
    usual = {"category": f"{books.get_category_id('hosting')}:cogs", "amount": "-10.00", "note": "kept"}
    for part, name in [
        ({"amount": "+100.00"}, "amount-1"),
        ({"amount": "-1.234"}, "amount-1"),
        ({"amount": "0 %"}, "amount-1"),
        ({"amount": "101%"}, "amount-1"),
        ({"tax": "0%"}, "tax-1"),
        ({"category": ""}, "category-1"),
        ({"tax": "+19"}, "tax-1"),
        ({"counterparty": "Nobody"}, "counterparty-1"),
        ({"rule": "custom"}, "start-1"),
        ({"rule": "custom", "start": "2026-03-02", "end": "2026-03-01"}, "end-1"),
        ({"rule": "custom", "start": "2026-03-02", "end": "9999-03-01"}, "end-1"),
        ({"invoice": "yesterday"}, "invoice-1"),
    ]:
        answer = pages.post(f"/{bill_id}/split", **build_split_form(usual, usual | part))
        assert answer.status_code == 400, part
        assert find_field_error(answer, name), part
        assert 'value="kept"' in answer.content.decode(), part
        assert books.list_categorizations(bill_id) == [], part


def test_split_form_accepts_percentages_and_fills_in_remainder(pages, books, bill_id):
    hosting = f"{books.get_category_id('hosting')}:cogs"
    for typed, parts in [
        ([("-19", ""), ("", "")], [(-19, None), (-100, None)]),  # what is left
        ([("40 %", ""), ("60%", "")], [(-47.6, None), (-71.4, None)]),
        ([("33,33%", ""), ("33.33 %", ""), ("", "")], [(-39.66, None), (-39.67, None), (-39.67, None)]),
        ([("", "19 %")], [(-100, -19)]),  # the tax is in what is left
        ([("100%", "19%")], [(-100, -19)]),
        ([("-50", "19%"), ("", "")], [(-50, -9.5), (-59.5, None)]),  # and is added to what was typed
        ([("50%", "-9.50"), ("", "")], [(-50, -9.5), (-59.5, None)]),
        ([("-119", "19 %")], [(-100, -19)]),  # the whole amount is that of the bill
        ([("119", "19.00")], [(-100, -19)]),
        ([("-1.190,00", "")], None),
    ]:
        with undo_changes():
            answer = pages.post(
                f"/{bill_id}/split",
                **build_split_form(*({"category": hosting, "amount": a, "tax": t} for a, t in typed)),
            )
            assert answer.status_code == (400 if parts is None else 303), typed
            stored = [
                (list_pl_amounts(each)["cogs"], each["passThroughTax"]) for each in books.list_categorizations(bill_id)
            ]
            assert stored == (parts or []), typed
            if parts:
                assert not Transaction.objects.get(id=bill_id).is_open, typed


def test_only_one_split_row_may_take_a_nonzero_remainder(pages, books, bill_id):
    empty = {"category": f"{books.get_category_id('hosting')}:cogs", "amount": ""}
    answer = pages.post(f"/{bill_id}/split", **build_split_form(empty, empty))
    assert find_field_error(answer, "amount-1") == "Only one row can take the remainder."
    answer = pages.post(f"/{bill_id}/split", **build_split_form(empty | {"amount": "-119"}, empty))
    assert find_field_error(answer, "amount-1") == "No amount left for this row."
    assert books.list_categorizations(bill_id) == []


def test_split_percentages_exclude_transfer_legs(pages, books, bill_id, savings):
    target = books.create_transaction(savings, "19.00")["id"]
    hosting = f"{books.get_category_id('hosting')}:cogs"
    pages.post(f"/{bill_id}/split", **build_split_form({"category": hosting, "amount": "-100"}))
    books.link_transfer(bill_id, target)
    form = parse_split_form(pages.get(f"/{bill_id}/split").content.decode()) | {"amount-0": "50%"}
    assert pages.post(f"/{bill_id}/split", **form).status_code == 303
    assert sorted(sum(list_pl_amounts(each).values()) for each in books.list_categorizations(bill_id)) == [-50, -19]


def test_split_above_amount_is_rejected_and_more_rows_can_be_added(pages, books, bill_id):
    part = {"category": f"{books.get_category_id('hosting')}:cogs", "amount": "-100.00"}
    answer = pages.post(f"/{bill_id}/split", **build_split_form(part, part))
    assert answer.status_code == 400
    assert "Amounts exceed the transaction by €81.00." in get_page_text(answer)
    taxed = build_split_form(part | {"tax": "19 %"}, part | {"amount": "-20"})
    answer = pages.post(f"/{bill_id}/split", **taxed)
    message = "Amounts and tax exceed the transaction by €20.00. Tax is added to the amounts entered."
    assert message in get_page_text(answer)
    answer = pages.post(f"/{bill_id}/split", **build_split_form(part, part, more="1"))
    assert answer.status_code == 200
    assert 'name="category-4"' in answer.content.decode()
    assert books.list_categorizations(bill_id) == []


@pytest.mark.parametrize("more", [{}, {"more": "1"}])
@pytest.mark.parametrize("category", ["", "x"])
def test_split_form_with_too_many_rows_is_rejected_and_nothing_is_stored(pages, books, bill_id, category, more):
    books.set_categorizations(bill_id, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}})
    before = books.get_transaction(bill_id)["categorizations"]
    form = parse_split_form(pages.get(f"/{bill_id}/split").content.decode())
    answer = pages.post(f"/{bill_id}/split", **form | {f"category-{n}": category for n in range(2000)} | more)
    assert answer.status_code == 413
    assert "at most 300 rows" in get_page_text(answer)
    assert "Nothing was saved." in get_page_text(answer)
    assert len(answer.content) < 10_000
    assert books.get_transaction(bill_id)["categorizations"] == before


def test_split_form_keeps_all_of_many_categorizations(pages, books, bill_id):
    part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -0.1}}
    assert books.set_categorizations(bill_id, *[part] * 120).status_code == 200
    before = books.get_transaction(bill_id)["categorizations"]
    form = parse_split_form(pages.get(f"/{bill_id}/split").content.decode())
    assert pages.post(f"/{bill_id}/split", **form).status_code == 303
    assert books.get_transaction(bill_id)["categorizations"] == before


def test_split_form_keeps_transfer_leg(pages, books, bill_id, savings):
    target = books.create_transaction(savings, "100.00")["id"]
    assert books.link_transfer(bill_id, target, force=True).status_code == 200
    books.set_categorizations(bill_id)  # refused: the leg must stay
    leg = next(iter(books.get_transaction(bill_id)["categorizations"]))
    answer = pages.get(f"/{bill_id}/split")
    assert "belongs to a transfer. Unlink the transfer to change it." in get_page_text(answer)
    assert pages.post(f"/{bill_id}/split", **build_split_form({"category": ""})).status_code == 303
    assert list(books.get_transaction(bill_id)["categorizations"]) == [leg]


def test_split_row_numbered_in_two_ways_counts_once(pages, books, bill_id):
    sent = {f"{name}-{number}": value for (name, value) in build_single_row(books) for number in ("1", "01")}
    assert pages.post(f"/{bill_id}/split", **sent).status_code == 303
    assert [list_pl_amounts(part) for part in books.list_categorizations(bill_id)] == [{"cogs": -30}]


def build_single_row(books):
    return [("category", f"{books.get_category_id('hosting')}:cogs"), ("amount", "-30.00")]


def test_transaction_actions_return_to_its_page_and_filtered_list(pages, books, bill_id):
    before, then = f"{pages.base}?q=nimbus&amp;direction=out", "?then=q%3Dnimbus%26direction%3Dout"
    shown = pages.get(f"/{bill_id}", then="q=nimbus&direction=out").content.decode()
    own = f"{pages.base}/{bill_id}{then}"
    for act in ("edit", "split", "link"):
        assert f'href="{pages.base}/{bill_id}/{act}{then}"' in shown
        form = pages.client.get(f"{pages.base}/{bill_id}/{act}{then}").content.decode()
        assert f'<a href="{before}">Transactions</a>' in form
        assert form.count(f'href="{own}"') == (1 if act == "link" else 2), "above; and to cancel, where there is a form"
    assert "?days=90&amp;amounts=any&amp;then=q%3Dnimbus%26direction%3Dout" in form, (
        "there is nothing to link it with yet"
    )
    category = f"{books.get_category_id('hosting')}:cogs"
    for path, typed in {"edit": {"fromTo": "Nimbus"}, "split": {"category-0": category, "amount-0": "-119.00"}}.items():
        answer = pages.post(f"/{bill_id}/{path}{then}", **typed)
        text = f"&said={bill_id}" if path == "split" else ""
        assert (answer.status_code, answer["Location"]) == (303, f"{own}{text}")
    assert pages.post(f"/{bill_id}/edit", fromTo="Nimbus Cloud")["Location"] == f"{pages.base}/{bill_id}"

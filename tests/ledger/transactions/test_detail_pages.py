"""The pages of one transaction: what is known of it, its fields, its parts, and the other leg of its transfer."""

import html
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.models import Categorization, Transaction
from tests import factories
from tests.change_tables import list_changes
from tests.ledger.conftest import find_field_error, get_page_text, list_pl_amounts
from tests.rollback import undo_changes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("exact")]
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


@pytest.fixture
def bought(books, bank):
    return books.book(bank, "-119.00", fromTo="Nimbus Cloud", description="March hosting", notes="paid late")["id"]


def build_split_form(*parts, **more):
    """The editor's form: each part its fields."""
    form = {f"{name}-{number}": value for number, part in enumerate(parts) for name, value in part.items()}
    return form | more


# ---------------------------------------------------------------------------------------------- all that is known


def test_transaction_page_shows_fields_split_documents_and_history(pages, books, bought, acme, api):
    nimbus = factories.make_customer(acme, "Nimbus")
    net = {
        "categoryId": books.category("hosting"),
        "plSplit": {"cogs": -100},
        "passThroughTax": -19,
        "usingDateRule": {"type": "month"},
        "counterparty": {"id": str(nimbus.id)},
        "sourceNote": "invoice 12",
    }
    assert books.split(bought, net).status_code == 200
    api.client.post(
        api.path("files"),
        {"file": SimpleUploadedFile("bill.pdf", PDF), "transactionIds": bought},
        headers=api.headers,
    )
    answer = pages.get(f"/{bought}")
    text = get_page_text(answer)
    for part in (
        *("Nimbus Cloud", "March hosting", "paid late", "−€119.00", "Hosting", "Cost of revenue", "−€100.00"),
        *("Pass-through tax", "−€19.00", "1 Mar 2026 – 31 Mar 2026", "Whole month", "invoice 12", "bill.pdf"),
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


def test_viewer_sees_no_forms_and_no_history(pages_of, bob, acme, bought):
    answer = pages_of(bob, acme).get(f"/{bought}")
    assert "March hosting" in get_page_text(answer)
    assert "History" not in get_page_text(answer)
    for path in ("edit", "delete", "split", "link", "unlink"):
        assert f"{bought}/{path}" not in answer.content.decode()
        assert pages_of(bob, acme).post(f"/{bought}/{path}").status_code == 403
    assert Transaction.objects.filter(id=bought).exists()


def test_queries_do_not_grow_with_parts_and_history(pages, books, bank, acme):
    def cost(key):
        pages.get(f"/{key}")
        with CaptureQueriesContext(connection) as queries:
            assert pages.get(f"/{key}").status_code == 200
        return len(queries)

    few, many = books.book(bank, "-100.00")["id"], books.book(bank, "-100.00")["id"]
    for key, count in ((few, 1), (many, 9)):
        who = [{"counterparty": {"id": str(factories.make_customer(acme).id)}} for _ in range(count)]
        part = {"categoryId": books.category("hosting"), "plSplit": {"cogs": -10}}
        for _ in range(count):
            assert books.split(key, *(part | each for each in who)).status_code == 200
    assert cost(few) == cost(many) <= 22


# ---------------------------------------------------------------------------------------------- its own fields


def test_edit_form_changes_all_transaction_fields(pages, books, bought, bank, alice):
    form = {"accountId": bank, "date": "2026-03-20", "amountValue": "-120.00", "amountCurrency": "EUR", "fromTo": "N"}
    form |= {"description": "", "notes": "", "externalId": "x-1", "assignedUserId": str(alice.pk), "pending": "on"}
    assert pages.post(f"/{bought}/edit", **form).status_code == 303
    row = books.read(bought)
    assert (row["amountValue"], row["date"], row["fromTo"], row["notes"]) == ("-120.00", "2026-03-20", "N", None)
    assert (row["description"], row["pending"], row["externalId"], row["assignedUserId"]) == (
        *(None, True, "x-1"),
        str(alice.pk),
    )
    assert 'name="pending" checked' in pages.get(f"/{bought}/edit").content.decode()


def test_amount_of_zero_is_accepted_as_by_the_api(pages, api, bank):
    form = {"accountId": bank, "date": "2026-03-10", "amountValue": "0.00", "fromTo": "Fee waiver"}
    assert pages.post("/new", **form).status_code == 303
    (row,) = api.get("transactions", {"q": "Fee waiver"}).json()
    assert row["amountValue"] == "0.00"
    assert api.post("transactions", form).status_code == 201


def test_linked_transaction_amount_cannot_be_edited(pages, books, bought, savings):
    target = books.book(savings, "119.00")["id"]
    books.link(bought, target)
    assert (
        'id="amountValue" name="amountValue" required value="-119.00"' in pages.get(f"/{bought}/edit").content.decode()
    )
    form = pages.get(f"/{bought}/edit").content.decode().partition("<form")[2]
    assert form.count(" disabled") == 3
    assert pages.post(f"/{bought}/edit", date="2026-03-20", fromTo="N", description="").status_code == 303
    answer = pages.post(f"/{bought}/edit", amountValue="-1.00")
    assert answer.status_code == 400
    assert "This transaction belongs to a transfer. Unlink the transfer first." in get_page_text(answer)
    assert (books.read(bought)["amountValue"], books.read(bought)["fromTo"]) == ("-119.00", "N")


def test_initial_balance_notes_can_be_edited(pages, api, bank, books):
    api.put(f"accounts/{bank}/initial_balance", {"date": "2026-01-01", "amountValue": "10.00"})
    opening = api.get(f"accounts/{bank}/initial_balance").json()["transaction"]["id"]
    assert pages.post(f"/{opening}/edit", notes="from the statement").status_code == 303
    assert books.read(opening)["notes"] == "from the statement"


@pytest.mark.parametrize("path", ["edit", "split"])
def test_stale_form_does_not_overwrite_concurrent_change(path, pages, books, bought, api):
    body = pages.get(f"/{bought}/{path}").content.decode()
    seen = body.split('name="seen" value="')[1].split('"')[0]
    api.put(f"transactions/{bought}", {"description": "another person's"})
    answer = pages.post(f"/{bought}/{path}", seen=seen, description="mine", **build_split_form({"category": ""}))
    assert answer.status_code == 400
    assert re.search("has changed “.+” in the meantime", get_page_text(answer))
    assert books.read(bought)["description"] == "another person's"


def test_transaction_can_be_deleted_on_its_page(pages, books, bought, savings):
    target = books.book(savings, "119.00")["id"]
    books.link(bought, target)
    answer = pages.post(f"/{bought}/delete")
    assert answer.status_code == 303
    assert not Transaction.objects.filter(id=bought).exists()
    assert books.parts(target) == []


def test_deletion_returns_to_filtered_list_and_can_be_undone(pages, books, bought, savings):
    target = books.book(savings, "119.00")["id"]
    books.link(bought, target)
    before = books.parts(bought), books.parts(target)
    listed = pages.get(q="nimbus", direction="out").content.decode()
    address = html.unescape(re.search(rf'href="({pages.base}/{bought}[^"]*)"', listed)[1])
    page = pages.client.get(address)
    assert f'<a href="{pages.base}?q=nimbus&amp;direction=out">Transactions</a>' in page.content.decode()
    then = html.unescape(re.search(r'name="then" value="([^"]*)"', page.content.decode())[1])
    answer = pages.post(f"/{bought}/delete", then=then)
    assert answer["Location"].startswith(f"{pages.base}?q=nimbus&direction=out&run=")
    text = get_page_text(pages.client.get(answer["Location"]))
    assert "Transaction deleted." in text
    run = re.search(r"run=([^&]+)", answer["Location"])[1]
    pages.client.post(answer["Location"], {"act": "undo", "run": run})
    assert (books.parts(bought), books.parts(target)) == before
    undone, deleted, *_ = list_changes(pages.get(f"/{bought}"))
    assert (undone.label, undone.fields) == ("Bulk change undone (1)", {"Action": ("—", "delete")})
    assert deleted.label == "Transaction deleted"
    assert "Other leg: Transaction deleted" in [change.label for change in list_changes(pages.get(f"/{target}"))]


# ---------------------------------------------------------------------------------------------- its parts


def test_transaction_can_be_split_over_categories(pages, books, bought, acme):
    factories.make_customer(acme, "Nimbus")
    hosting, support = books.category("hosting"), books.category("support")
    form = build_split_form(
        {"category": f"{hosting}:cogs", "amount": "-80.00", "tax": "-19", "counterparty": "Nimbus", "rule": "month"},
        {"category": "", "amount": ""},
        {"category": f"{support}:cogs", "amount": "-20", "note": "hotline"},
    )
    assert pages.post(f"/{bought}/split", **form).status_code == 303
    first, second = books.parts(bought)
    assert (list_pl_amounts(first), first["passThroughTax"], first["usingDateRule"]["type"]) == (
        {"cogs": -80},
        -19,
        "month",
    )
    assert (second["categoryId"], list_pl_amounts(second), second["sourceNote"]) == (support, {"cogs": -20}, "hotline")
    assert "Uncategorized" not in get_page_text(pages.get(f"/{bought}"))


def test_saving_unchanged_split_form_changes_nothing(pages, books, bought, acme, api):
    both = api.post("categories", {"name": "Rent", "plTypes": ["cogs", "ga"]}).json()["id"]
    who = {"type": "customer", "id": str(factories.make_customer(acme).id)}
    period = {"type": "servicePeriod", "startDate": "2026-03-01", "endDate": "2026-04-30", "invoiceDate": "2026-02-28"}
    two = {"categoryId": both, "plSplit": {"cogs": -40, "ga": -20}, "passThroughTax": -9, "counterparty": who}
    tax = {"categoryId": books.category("hosting"), "passThroughTax": -1}
    assert books.split(bought, two | {"usingDateRule": period, "sourceNote": "n"}, tax).status_code == 200
    before = books.read(bought)["categorizations"]
    form = parse_split_form(pages.get(f"/{bought}/split").content.decode())
    assert pages.post(f"/{bought}/split", **form).status_code == 303
    assert books.read(bought)["categorizations"] == before


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


def test_split_row_can_be_removed_or_moved_to_other_category(pages, books, bought, api):
    both = api.post("categories", {"name": "Rent", "plTypes": ["cogs", "ga"]}).json()["id"]
    books.split(bought, {"categoryId": both, "plSplit": {"cogs": -40, "ga": -20}})
    form = parse_split_form(pages.get(f"/{bought}/split").content.decode())
    hosting = books.category("hosting")
    assert pages.post(f"/{bought}/split", **form | {"category-1": f"{hosting}:cogs"}).status_code == 303
    assert [list_pl_amounts(part) for part in books.parts(bought)] == [{"cogs": -40}, {"cogs": -20}]
    form = parse_split_form(pages.get(f"/{bought}/split").content.decode())
    assert pages.post(f"/{bought}/split", **form | {"remove-0": "on"}).status_code == 303
    (left,) = books.parts(bought)
    assert (left["categoryId"], list_pl_amounts(left)) == (hosting, {"cogs": -20})


def test_split_details_survive_removal_of_first_row_and_duplicate_names(pages, books, bought, acme, api):
    both = api.post("categories", {"name": "Rent", "plTypes": ["cogs", "ga"]}).json()["id"]
    who = {"type": "customer", "id": str(factories.make_customer(acme, "Twin").id)}
    factories.make_customer(acme, "Twin")
    books.split(bought, {"categoryId": both, "plSplit": {"cogs": -40, "ga": -20}, "counterparty": who})
    form = parse_split_form(pages.get(f"/{bought}/split").content.decode()) | {"remove-0": "on"}
    assert pages.post(f"/{bought}/split", **form).status_code == 303
    (left,) = books.parts(bought)
    assert (list_pl_amounts(left), left["counterparty"]) == ({"ga": -20}, who)
    form = build_split_form({"category": f"{both}:ga", "amount": "-1", "counterparty": "Twin"})
    assert "Several counterparties" in find_field_error(pages.post(f"/{bought}/split", **form), "counterparty-0")
    assert pages.post(f"/{bought}/split", **form | {"counterparty-0": who["id"]}).status_code == 303


def test_invalid_split_row_shows_field_errors(pages, books, bought):
    usual = {"category": f"{books.category('hosting')}:cogs", "amount": "-10.00", "note": "kept"}
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
        ({"invoice": "yesterday"}, "invoice-1"),
    ]:
        answer = pages.post(f"/{bought}/split", **build_split_form(usual, usual | part))
        assert answer.status_code == 400, part
        assert find_field_error(answer, name), part
        assert 'value="kept"' in answer.content.decode(), part
        assert books.parts(bought) == [], part


def test_split_form_accepts_percentages_and_fills_in_remainder(pages, books, bought):
    hosting = f"{books.category('hosting')}:cogs"
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
                f"/{bought}/split",
                **build_split_form(*({"category": hosting, "amount": a, "tax": t} for a, t in typed)),
            )
            assert answer.status_code == (400 if parts is None else 303), typed
            stored = [(list_pl_amounts(each)["cogs"], each["passThroughTax"]) for each in books.parts(bought)]
            assert stored == (parts or []), typed
            if parts:
                assert not Transaction.objects.get(id=bought).is_open, typed


def test_only_one_split_row_may_take_a_nonzero_remainder(pages, books, bought):
    empty = {"category": f"{books.category('hosting')}:cogs", "amount": ""}
    answer = pages.post(f"/{bought}/split", **build_split_form(empty, empty))
    assert find_field_error(answer, "amount-1") == "Only one row can take the remainder."
    answer = pages.post(f"/{bought}/split", **build_split_form(empty | {"amount": "-119"}, empty))
    assert find_field_error(answer, "amount-1") == "No amount left for this row."
    assert books.parts(bought) == []


def test_split_percentages_exclude_transfer_legs(pages, books, bought, savings):
    target = books.book(savings, "19.00")["id"]
    hosting = f"{books.category('hosting')}:cogs"
    pages.post(f"/{bought}/split", **build_split_form({"category": hosting, "amount": "-100"}))
    books.link(bought, target)
    form = parse_split_form(pages.get(f"/{bought}/split").content.decode()) | {"amount-0": "50%"}
    assert pages.post(f"/{bought}/split", **form).status_code == 303
    assert sorted(sum(list_pl_amounts(each).values()) for each in books.parts(bought)) == [-50, -19]


def test_split_above_amount_is_rejected_and_more_rows_can_be_added(pages, books, bought):
    part = {"category": f"{books.category('hosting')}:cogs", "amount": "-100.00"}
    answer = pages.post(f"/{bought}/split", **build_split_form(part, part))
    assert answer.status_code == 400
    assert "Amounts exceed the transaction by €81.00." in get_page_text(answer)
    taxed = build_split_form(part | {"tax": "19 %"}, part | {"amount": "-20"})
    answer = pages.post(f"/{bought}/split", **taxed)
    message = "Amounts and tax exceed the transaction by €20.00. Tax is added to the amounts entered."
    assert message in get_page_text(answer)
    answer = pages.post(f"/{bought}/split", **build_split_form(part, part, more="1"))
    assert answer.status_code == 200
    assert 'name="category-4"' in answer.content.decode()
    assert books.parts(bought) == []


@pytest.mark.parametrize("more", [{}, {"more": "1"}])
@pytest.mark.parametrize("category", ["", "x"])
def test_split_form_with_too_many_rows_is_rejected_and_nothing_is_stored(pages, books, bought, category, more):
    books.split(bought, {"categoryId": books.category("hosting"), "plSplit": {"cogs": -100}})
    before = books.read(bought)["categorizations"]
    form = parse_split_form(pages.get(f"/{bought}/split").content.decode())
    answer = pages.post(f"/{bought}/split", **form | {f"category-{n}": category for n in range(2000)} | more)
    assert answer.status_code == 413
    assert "at most 300 rows" in get_page_text(answer)
    assert "Nothing was saved." in get_page_text(answer)
    assert len(answer.content) < 10_000
    assert books.read(bought)["categorizations"] == before


def test_split_form_keeps_all_of_many_categorizations(pages, books, bought):
    part = {"categoryId": books.category("hosting"), "plSplit": {"cogs": -0.1}}
    assert books.split(bought, *[part] * 120).status_code == 200
    before = books.read(bought)["categorizations"]
    form = parse_split_form(pages.get(f"/{bought}/split").content.decode())
    assert pages.post(f"/{bought}/split", **form).status_code == 303
    assert books.read(bought)["categorizations"] == before


def test_split_form_keeps_transfer_leg(pages, books, bought, savings):
    target = books.book(savings, "100.00")["id"]
    assert books.link(bought, target, force=True).status_code == 200
    books.split(bought)  # refused: the leg must stay
    leg = next(iter(books.read(bought)["categorizations"]))
    answer = pages.get(f"/{bought}/split")
    assert "belongs to a transfer. Unlink the transfer to change it." in get_page_text(answer)
    assert pages.post(f"/{bought}/split", **build_split_form({"category": ""})).status_code == 303
    assert list(books.read(bought)["categorizations"]) == [leg]


# ---------------------------------------------------------------------------------------------- its transfer


def test_transfer_candidates_are_open_opposite_near_and_equal_in_amount(pages, books, bank, savings, rates):
    source = books.book(bank, "-100.00", "2026-03-15")["id"]
    dollars = books.account(name="Dollars", defaultCurrency="USD")
    fits = {
        "equal": books.book(savings, "100.00", "2026-03-17", fromTo="equal")["id"],
        "abroad": books.book(dollars, "130.00", "2026-03-14", fromTo="abroad")["id"],  # worth 125.00 at the day's rate
    }
    for amount, day, account in (
        ("100.00", "2026-03-15", bank),
        ("-100.00", "2026-03-15", savings),
        ("100.01", "2026-03-15", savings),
        ("100.00", "2026-03-26", savings),
        ("140.00", "2026-03-15", dollars),
    ):
        books.book(account, amount, day, fromTo="unfit")
    closed = books.book(savings, "100.00", fromTo="unfit")["id"]
    books.split(closed, {"categoryId": books.category("revenueOther"), "plSplit": {"revenue": 100}})
    body = pages.get(f"/{source}/link").content.decode()
    assert body.find(fits["abroad"]) < body.find(fits["equal"])
    assert body.count('name="target"') == 2
    assert "unfit" not in body
    assert pages.get(f"/{source}/link", days="30").content.decode().count('name="target"') == 3
    assert pages.get(f"/{source}/link", amounts="any").content.decode().count('name="target"') == 4


@pytest.mark.parametrize("query", ["days=abc", "days=4", "amounts=some"])
def test_wrong_filter_of_transfer_candidates_is_a_form_error(pages, books, bank, savings, query):
    source, target = (books.book(account, amount)["id"] for account, amount in ((bank, "-5.00"), (savings, "5.00")))
    answer = pages.get(f"/{source}/link?{query}")
    assert answer.status_code == 400
    assert f'id="{query.partition("=")[0]}-error">Choose one of the options.<' in answer.content.decode()
    assert target in answer.content.decode(), "the defaults count"


def test_transfer_can_be_linked_and_unlinked(pages, books, bank, savings):
    source, target = books.book(bank, "-100.00")["id"], books.book(savings, "100.00")["id"]
    answer = pages.post(f"/{source}/link", target=target, part="")
    assert (answer.status_code, answer["Location"]) == (303, f"{pages.base}/{source}")
    page = pages.get(f"/{source}")
    assert "Transactions linked as a transfer." in get_page_text(page)
    assert f"/transactions/{target}" in page.content.decode()
    ((part, _),) = books.read(source)["categorizations"].items()
    assert pages.post(f"/{source}/unlink", part=part).status_code == 303
    assert "Transfer unlinked. Both transactions are now uncategorized." in get_page_text(pages.get(f"/{source}"))
    assert (books.parts(source), books.parts(target)) == ([], [])
    pages.post(f"/{source}/unlink", part=part)
    assert "This transfer is already unlinked." in get_page_text(pages.get(f"/{source}"))


def test_single_categorization_can_be_a_transfer_leg(pages, books, bank, savings):
    source, target = books.book(bank, "-119.00")["id"], books.book(savings, "100.00")["id"]
    books.split(source, {"categoryId": books.category("hosting"), "plSplit": {"cogs": -100}})
    ((part, _),) = books.read(source)["categorizations"].items()
    assert target not in pages.get(f"/{source}/link").content.decode()
    assert target in pages.get(f"/{source}/link", part=part).content.decode()
    assert pages.get(f"/{source}/link", part=UNKNOWN_ID).status_code == 404
    assert pages.post(f"/{source}/link", part=part, target=target).status_code == 303
    assert Categorization.objects.get(id=part).counter.transaction_id == Transaction.objects.get(id=target).id


def test_missing_or_unknown_transfer_target_is_rejected(pages, books, bank, savings):
    source = books.book(bank, "-100.00")["id"]
    books.book(savings, "100.00")
    for target in ["", "nonsense", UNKNOWN_ID]:
        answer = pages.post(f"/{source}/link", target=target)
        assert answer.status_code == 400, target
        assert 'role="alert"' in answer.content.decode(), target


def test_different_amounts_are_linked_only_with_force(pages, books, bank, savings):
    source, target = books.book(bank, "-101.50")["id"], books.book(savings, "100.00")["id"]
    answer = pages.post(f"/{source}/link?amounts=any", target=target)
    assert answer.status_code == 400
    assert "The amounts differ (by more than 10 % across currencies). Use force to link them anyway." in get_page_text(
        answer
    )
    assert pages.post(f"/{source}/link?amounts=any", target=target, force="on").status_code == 303


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_transfer_candidates_are_found_at_calendar_ends(day, pages, books, bank, savings):
    source, target = books.book(bank, "-100.00", day)["id"], books.book(savings, "100.00", day)["id"]
    assert target in pages.get(f"/{source}/link", days="90").content.decode()
    assert pages.post(f"/{source}/link", target=target, part="").status_code == 303


def test_split_row_numbered_in_two_ways_counts_once(pages, books, bought):
    sent = {f"{name}-{number}": value for (name, value) in build_single_row(books) for number in ("1", "01")}
    assert pages.post(f"/{bought}/split", **sent).status_code == 303
    assert [list_pl_amounts(part) for part in books.parts(bought)] == [{"cogs": -30}]


def build_single_row(books):
    return [("category", f"{books.category('hosting')}:cogs"), ("amount", "-30.00")]


def test_transaction_actions_return_to_its_page_and_filtered_list(pages, books, bought):
    before, then = f"{pages.base}?q=nimbus&amp;direction=out", "?then=q%3Dnimbus%26direction%3Dout"
    shown = pages.get(f"/{bought}", then="q=nimbus&direction=out").content.decode()
    own = f"{pages.base}/{bought}{then}"
    for act in ("edit", "split", "link"):
        assert f'href="{pages.base}/{bought}/{act}{then}"' in shown
        form = pages.client.get(f"{pages.base}/{bought}/{act}{then}").content.decode()
        assert f'<a href="{before}">Transactions</a>' in form
        assert form.count(f'href="{own}"') == (1 if act == "link" else 2), "above; and to cancel, where there is a form"
    assert "?days=90&amp;amounts=any&amp;then=q%3Dnimbus%26direction%3Dout" in form, (
        "there is nothing to link it with yet"
    )
    category = f"{books.category('hosting')}:cogs"
    for path, typed in {"edit": {"fromTo": "Nimbus"}, "split": {"category-0": category, "amount-0": "-119.00"}}.items():
        answer = pages.post(f"/{bought}/{path}{then}", **typed)
        text = f"&said={bought}" if path == "split" else ""
        assert (answer.status_code, answer["Location"]) == (303, f"{own}{text}")
    assert pages.post(f"/{bought}/edit", fromTo="Nimbus Cloud")["Location"] == f"{pages.base}/{bought}"

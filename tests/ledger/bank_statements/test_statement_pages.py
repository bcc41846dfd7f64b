"""Dropping bank statements on the import page: each is looked at before anything is stored."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from companies.models import generate_id
from ledger.bank_statements.actions import statements
from ledger.imports.actions import uploads
from ledger.models import ImportBatch, Transaction
from tests.ledger.bank_file_builders import (
    IBAN,
    build_camt,
    build_entry,
    build_mt942,
    build_qif,
    build_simple_camt,
    build_statement,
)
from tests.ledger.conftest import get_page_text
from tests.ledger.statement_upload import list_stored_rows, upload_statement

NO_ACCOUNT = "The file contains no account number. Choose its account below, or create it."
pytestmark = pytest.mark.django_db


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/imports{path}"


def upload_files(client, company, *files, **more):
    """Files as (name, content)."""
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return client.post(build_page_path(company, "/new"), {"file": sent, **more})


def open_check_page(client, company, *files, **more):
    answer = upload_files(client, company, *files, **more)
    assert answer.status_code == 303, answer.content.decode()
    return answer["Location"], client.get(answer["Location"])


def confirm_import(client, address, answer):
    form = re.search(r'class="confirm-row">(.*?)</form>', answer.content.decode(), re.DOTALL)[1]
    result = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    return client.post(urlsplit(address).path, group_values(result), follow=True)


def group_values(pairs):
    """A form's fields, each with all of its values."""
    sent = {}
    for name, value in pairs:
        sent.setdefault(name, []).append(unescape(value))
    return sent


def choose_accounts(client, address, answer, *accounts):
    """The page after an account was chosen for each file that asks for one."""
    form = re.search(r'<form id="review-form" .*?>(.*?)</form>', answer.content.decode(), re.DOTALL)[1]
    given, sent = iter(accounts), []
    for name, value, select in re.findall(
        r'<input type="hidden" name="(\w+)" value="([^"]*)">|(<select .*?name="account")', form
    ):
        sent.append(("account", next(given)) if select else (name, value))
    assert next(given, None) is None
    return client.post(urlsplit(address).path, group_values(sent))


def test_check_page_shows_account_balances_and_new_entries(editor, acme, main_account):
    _, answer = open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00", "25.50")))
    shown = get_page_text(answer)
    assert "january.xml CAMT.053 · 2 new, 0 duplicates" in shown
    assert f"Main {IBAN} 1 Jan 2026 – 31 Jan 2026 €100.00 €85.50 €0.00 2 0 0" in shown
    assert "Import 2 transactions" in shown
    assert list_stored_rows(acme) == []


def test_check_page_shows_first_new_rows_of_each_file(editor, api, acme, main_account):
    assert upload_statement(api, build_simple_camt("-40.00")).status_code == 200
    january = build_simple_camt("-40.00", "25.50")
    february = build_simple_camt(
        *[f"-{number}.25" for number in range(1, 13)],
        start="2026-02-01",
        end="2026-02-28",
        day="2026-02-10",
        opening="85.50",
    )
    _, answer = open_check_page(editor, acme, ("1.xml", january), ("2.xml", february))
    first, second = answer.content.decode().split('id="file-2"')
    assert re.findall(r"[−€]+[0-9.]+(?=\s*</td>\s*</tr>)", first) == ["€25.50"]
    rows = re.findall(r"−€[0-9]+\.25", second)
    assert rows == [f"−€{number}.25" for number in range(1, 11)]
    assert "The first 10 of 12." in get_page_text(answer)


def test_statement_is_stored_only_after_confirmation(editor, acme, main_account):
    address, answer = open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00", "25.50")))
    assert ImportBatch.objects.for_company(acme.id).count() == 0
    done = confirm_import(editor, address, answer)
    assert "2 transactions imported from 1 file." in get_page_text(done)
    assert len(list_stored_rows(acme)) == 2
    assert default_storage.listdir(uploads.UPLOAD_FOLDER)[1] == []
    assert "january.xml CAMT.053 Main" in get_page_text(done)
    again = editor.post(
        urlsplit(address).path, {"upload": re.findall(r"upload=([^&]+)", unescape(address))}, follow=True
    )
    assert "Import" in get_page_text(again)
    assert len(list_stored_rows(acme)) == 2


def test_check_page_detects_duplicates_across_uploaded_files(editor, acme, main_account):
    february = build_simple_camt("-1.00", start="2026-02-01", end="2026-02-28", day="2026-02-10", opening="60.00")
    address, answer = open_check_page(
        editor, acme, ("1.xml", build_simple_camt("-40.00")), ("2.xml", february), ("3.xml", february)
    )
    shown = get_page_text(answer)
    assert "3.xml CAMT.053 · Nothing new, 1 duplicate" in shown
    assert "Import 2 transactions" in shown
    confirm_import(editor, address, answer)
    assert [row[1] for row in list_stored_rows(acme)] == ["-40.00", "-1.00"]


def test_file_with_nothing_new_offers_no_import(editor, acme, main_account):
    address, answer = open_check_page(editor, acme, ("1.xml", build_simple_camt("-40.00")))
    confirm_import(editor, address, answer)
    again = open_check_page(editor, acme, ("2.xml", build_simple_camt("-40.00")))[1].content.decode()
    form = re.search(r'class="confirm-row">(.*?)</form>', again, re.DOTALL)[1]
    assert "Nothing new" in form
    assert "<button" not in form
    assert again.count(">2.xml<") == 1


def test_statement_without_new_entries_can_store_its_balance(editor, acme, main_account):
    address, answer = open_check_page(editor, acme, ("1.xml", build_simple_camt("-40.00")))
    confirm_import(editor, address, answer)
    quiet = build_camt(build_statement(start="2026-02-01", end="2026-02-28", opening="60.00", closing="60.00"))
    address, answer = open_check_page(editor, acme, ("2.xml", quiet))
    assert "Import balances" in get_page_text(answer)
    assert "0 transactions" not in get_page_text(answer)
    assert "0 transactions imported from 1 file." in get_page_text(confirm_import(editor, address, answer))


def test_check_page_shows_balance_difference_before_import(editor, acme, main_account):
    _, answer = open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00", closing="70.00")))
    assert re.search(r'<strong\s+class="bad">€10.00</strong>', answer.content.decode())
    assert "within the file: €10.00" in get_page_text(answer)


def test_account_page_shows_bank_balance_mismatch(editor, api, acme, main_account):
    address, answer = open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00", closing="70.00")))
    confirm_import(editor, address, answer)
    shown = get_page_text(editor.get(f"/app/companies/{acme.id}/accounts/{main_account}"))
    assert "statement €70.00, ledger €60.00." in shown


def test_file_without_account_goes_to_chosen_account(editor, acme, bank):
    content = build_qif(["D01/31/2026", "T-1.00", "PCoffee bar"])
    _, answer = open_check_page(editor, acme, ("bank.qif", content))
    assert NO_ACCOUNT in get_page_text(answer)
    assert "Import 0 transactions" not in get_page_text(answer)
    address, answer = open_check_page(editor, acme, ("bank.qif", content), account=bank)
    confirm_import(editor, address, answer)
    assert list_stored_rows(acme) == [("2026-01-31", "-1.00", "Coffee bar", "")]


def test_each_file_without_account_has_its_own_account_choice(editor, acme, books, bank, main_account):
    savings = books.create_account(name="Savings")
    files = [
        ("one.qif", build_qif(["D01/31/2026", "T-1.00", "PCoffee bar"])),
        ("january.xml", build_simple_camt("-40.00")),
        ("two.qif", build_qif(["D01/31/2026", "T-2.00", "PTea room"])),
    ]
    address, answer = open_check_page(editor, acme, *files)
    assert get_page_text(answer).count(NO_ACCOUNT) == 2
    assert "Account for one.qif" in get_page_text(answer)
    assert "Account for january.xml" not in get_page_text(answer)
    answer = choose_accounts(editor, address, answer, bank, "")
    assert get_page_text(answer).count(NO_ACCOUNT) == 1
    answer = choose_accounts(editor, address, answer, bank, savings)
    done = confirm_import(editor, address, answer)
    assert "3 transactions imported from 3 files." in get_page_text(done)
    names = {
        str(row.account_id): row.from_to for row in Transaction.objects.for_company(acme.id).without_initial_balances()
    }
    assert names == {bank: "Coffee bar", main_account: "Initech GmbH", savings: "Tea room"}


def test_account_chosen_for_all_files_can_be_overridden_per_file(editor, acme, books, bank):
    savings = books.create_account(name="Savings")
    files = [(f"{n}.qif", build_qif(["D01/31/2026", f"T-{n}.00", "PCoffee bar"])) for n in (1, 2)]
    address, answer = open_check_page(editor, acme, *files, account=bank)
    answer = choose_accounts(editor, address, answer, bank, savings)
    confirm_import(editor, address, answer)
    result = {
        str(row.account_id): row.amount_value
        for row in Transaction.objects.for_company(acme.id).without_initial_balances()
    }
    assert result == {bank: -1, savings: -2}


def test_statement_account_number_overrides_chosen_account(editor, acme, books, main_account):
    other = books.create_account(name="Other")
    address, answer = open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00")), account=other)
    confirm_import(editor, address, answer)
    assert [str(row.account_id) for row in Transaction.objects.for_company(acme.id).without_initial_balances()] == [
        main_account
    ]


def test_unknown_account_number_needs_explicit_account_choice(editor, acme, bank):
    for address in (
        build_page_path(acme, "/new"),
        open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00")), account="")[0],
    ):
        accounts = re.search(
            r'<select [^>]*name="account".*?</select>', editor.get(address).content.decode(), re.DOTALL
        )[0]
        assert re.search(r"<option[^>]*>", accounts)[0] == '<option value="">'
        assert "selected" not in accounts
    assert f"No account has the number {IBAN}." in get_page_text(editor.get(address))
    assert list_stored_rows(acme) == []
    address, answer = open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00")), account=bank)
    confirm_import(editor, address, answer)
    assert len(list_stored_rows(acme)) == 1


def test_rejected_file_blocks_import_and_shows_reason(editor, acme, main_account):
    broken = build_camt(build_statement(build_entry("1.00")))[:-30]
    _, answer = open_check_page(editor, acme, ("1.xml", build_simple_camt("-40.00")), ("2.xml", broken))
    shown = get_page_text(answer)
    assert "Line 2" in shown
    assert b'type="submit" disabled' in answer.content
    others = re.search(r'href="([^"]+)">Continue without rejected files', answer.content.decode())[1]
    without = editor.get(build_page_path(acme, "/statements") + unescape(others))
    assert "1.xml" in get_page_text(without)
    assert "2.xml" not in get_page_text(without)
    assert b'type="submit" disabled' not in without.content


def test_non_statement_file_is_left_out_and_named(editor, acme, main_account):
    answer = upload_files(editor, acme, ("1.xml", build_simple_camt("-40.00")), ("2.json", b"{}"))
    assert answer.status_code == 303
    shown = get_page_text(editor.get(answer["Location"]))
    assert "“2.json” is not a supported statement file. The file was skipped." in shown
    assert "1 new, 0 duplicates" in shown


def test_statement_without_period_uses_period_of_its_entries(editor, acme, main_account):
    lines = [("2601150115D40,00NTRFNONREF//B-1", "Rent"), ("2601170117D4,00NTRFNONREF//B-2", "Fee")]
    _, answer = open_check_page(editor, acme, ("day.942", build_mt942(*lines)))
    assert "15 Jan 2026 – 17 Jan 2026 – –" in get_page_text(answer)
    _, answer = open_check_page(editor, acme, ("day.942", build_mt942(lines[0])))
    assert f"{IBAN} 15 Jan 2026 – –" in get_page_text(answer)


@pytest.mark.parametrize("language", ["en", "de"])
def test_truncated_file_error_is_localized(editor, acme, main_account, language):
    editor.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    text = {
        "en": "Line 2: The file is incomplete and ends here. Export or download it again.",
        "de": "Zeile 2: Die Datei ist unvollständig und endet hier. Exportieren oder laden Sie sie erneut.",
    }
    for cut in (30, 33, 200):
        _, answer = open_check_page(editor, acme, ("truncated.xml", build_simple_camt("-40.00")[:-cut]))
        assert text[language] in get_page_text(answer), cut


def test_broken_xml_error_is_shown_in_german(editor, acme, main_account):
    editor.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    broken = build_simple_camt("-40.00").replace(b"</Ntry>", b"</Other>")
    _, answer = open_check_page(editor, acme, ("broken.xml", broken))
    page_text = get_page_text(answer)
    assert "Zeile 2: Das XML ist hier nicht wohlgeformt." in page_text
    assert "XML" in page_text
    assert "mismatched" not in page_text


def test_empty_file_is_reported_as_empty(editor, acme, main_account):
    text = "“empty.xml” is empty. Export it again."
    alone = upload_files(editor, acme, ("empty.xml", b""))
    assert (alone.status_code, text in get_page_text(alone)) == (400, True)
    answer = upload_files(editor, acme, ("empty.xml", b""), ("1.xml", build_simple_camt("-40.00")))
    assert text in get_page_text(editor.get(answer["Location"]))


def test_upload_without_any_statement_is_rejected(editor, acme, main_account):
    answer = upload_files(editor, acme, ("1.json", b"{}"), ("2.json", b"{}"))
    assert answer.status_code == 400
    assert re.search(
        "“1.json” is not a supported statement file.*“2.json” is not a supported statement file", get_page_text(answer)
    )


def test_uploads_of_other_users_are_not_found(editor, sign_in_browser, carol, globex, acme, main_account):
    address, _ = open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00")))
    query = urlsplit(address).query
    theirs = sign_in_browser(carol, globex).client.get(f"{build_page_path(globex, '/statements')}?{query}", follow=True)
    assert "The uploaded file has expired. Upload it again." in get_page_text(theirs)


def test_statement_page_without_uploads_redirects_to_upload_page(editor, acme):
    for query in ("", "?upload=x", "?upload=00000000-0000-7000-8000-000000000000%20a"):
        assert editor.get(build_page_path(acme, f"/statements{query}"), follow=True).redirect_chain[0][
            0
        ] == build_page_path(acme, "/new")


def test_json_upload_returns_location_of_check_page(editor, acme, main_account):
    sent = {"file": [SimpleUploadedFile("january.xml", build_simple_camt("-40.00"))]}
    answer = editor.post(build_page_path(acme, "/new"), sent, headers={"Accept": "application/json"})
    assert answer.status_code == 200
    assert "1 new, 0 duplicates" in get_page_text(editor.get(answer.json()["location"]))
    refused = {"file": [SimpleUploadedFile("a.pdf", b"%PDF-1.4 no statement")]}
    answer = editor.post(build_page_path(acme, "/new"), refused, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "text/html; charset=utf-8")


def test_upload_page_states_file_limit(editor, acme, main_account):
    page = editor.get(f"/app/companies/{acme.id}/imports/new")
    assert "Up to 20 files" in get_page_text(page)
    assert re.search(
        r'data-max-files="20"\s+data-text-too-many-files="Select at most 20 files."', page.content.decode()
    )


def test_too_many_files_are_rejected_before_reading(editor, acme, main_account, monkeypatch):
    monkeypatch.setattr(
        "ledger.bank_statements.pages.statement_uploads.detect_upload_kind", lambda file: pytest.fail("It was read.")
    )
    files = [SimpleUploadedFile(f"{n}.xml", build_simple_camt("-1.00")) for n in range(21)]
    answer = editor.post(f"/app/companies/{acme.id}/imports/new", {"file": files})
    assert answer.status_code == 400
    assert "You can upload at most 20 files at once." in get_page_text(answer)


def count_reads(monkeypatch):
    """Return the list to which the ids of uploads are added from now on, whenever one is read."""
    reads = []
    read = uploads.read_upload
    monkeypatch.setattr(uploads, "read_upload", lambda **names: reads.append(names["upload_id"]) or read(**names))
    return reads


def test_a_repeated_upload_is_refused_before_it_is_read(editor, acme, main_account, monkeypatch):
    address, _ = open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00", "25.50")))
    upload = parse_qs(urlsplit(address).query)["upload"][0]
    reads = count_reads(monkeypatch)
    for method in (editor.get, editor.post):
        answer = method(urlsplit(address).path, {"upload": [upload] * 20})
        assert answer.status_code == 400
        assert "A file is listed twice. Upload the files again." in get_page_text(answer)
    assert reads == []
    assert list_stored_rows(acme) == []


def test_uploads_over_total_size_limit_are_rejected_before_reading(editor, acme, main_account, monkeypatch, settings):
    files = [("january.xml", build_simple_camt("-40.00")), ("february.xml", build_simple_camt("25.50"))]
    address, _ = open_check_page(editor, acme, *files)
    reads = count_reads(monkeypatch)
    monkeypatch.setattr(uploads, "get_upload_size", lambda **_names: settings.MAX_UPLOAD_MB * 1024 * 1024 // 2 + 1)
    answer = editor.get(address)
    assert answer.status_code == 413
    assert "The files are too large for one upload. Import them in several steps." in get_page_text(answer)
    assert reads == []


def test_uploads_over_count_limit_are_rejected(editor, acme, main_account):
    address, _ = open_check_page(editor, acme, ("january.xml", build_simple_camt("-40.00")))
    answer = editor.get(urlsplit(address).path, {"upload": [f"{generate_id()} {n}.xml" for n in range(21)]})
    assert answer.status_code == 400
    assert "You can upload at most 20 files at once." in get_page_text(answer)


def test_uploads_are_read_one_at_a_time(editor, acme, main_account, monkeypatch):
    files = [(f"{n}.xml", build_simple_camt(f"-{n}.00")) for n in range(1, 4)]
    address, _ = open_check_page(editor, acme, *files)
    events = []
    read, receive = uploads.read_upload, statements.import_statement
    monkeypatch.setattr(uploads, "read_upload", lambda **names: events.append("read") or read(**names))
    monkeypatch.setattr(statements, "import_statement", lambda **names: events.append("received") or receive(**names))
    assert editor.get(address).status_code == 200
    assert events == ["read", "received"] * 3

"""Importing a CSV file on pages: uploaded, checked, corrected, imported, undone."""

import errno
import os
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from companies import change as companies_change
from companies.models import AuditEntry, Company
from ledger.imports.actions import uploads
from ledger.models import Account, ImportBatch, Transaction
from tests import factories
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

GOOD = "Date,Payee,Details,Amount\n2026-01-31,Initech,Invoice 1042,1190.00\n2026-01-30,Bank,Fee,-4.00\n"
BAD = "Date,Payee,Details,Amount\n2026-01-31,Initech,Invoice 1042,1190.00\n2026-02-32,Bank,Fee,-4.00\n"


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/imports{path}"


def upload_csv(client, company, account, text, *, name="bank.csv", **more):
    content = text if isinstance(text, bytes) else text.encode()
    form = {"account": account, "file": SimpleUploadedFile(name, content, "text/csv"), **more}
    return client.post(build_page_path(company, "/new"), form)


def open_check_page(client, company, account, text, **more):
    """The address of the check page of an uploaded file, and the page."""
    answer = upload_csv(client, company, account, text, **more)
    assert answer.status_code == 303, answer.content.decode()
    address = answer["Location"]
    return address, client.get(address)


def list_sums(answer):
    """To store, there already, before the books, bad rows."""
    return [int(text) for text in re.findall(r"<dd(?: class=\"bad\")?>(\d+)</dd>", answer.content.decode())]


def parse_choices(answer):
    """What the page's own form of confirmation would send."""
    form = re.search(r'class="confirm-row">(.*?)</form>', answer.content.decode(), re.DOTALL)[1]
    result = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return {unescape(name): unescape(value) for name, value in result if name != "csrfmiddlewaretoken"}


def confirm_import(client, address, **more):
    sent = parse_choices(client.get(address)) | more
    return client.post(urlsplit(address).path, sent, follow=True)


def list_stored(company):
    rows = Transaction.objects.for_company(company.id).order_by("date")
    return [(str(row.date), row.from_to, row.description, str(row.amount_value)) for row in rows]


# ---------------------------------------------------------------------------------------------- checking


def test_import_stores_nothing_before_confirmation(editor, acme, bank):
    _, answer = open_check_page(editor, acme, bank, GOOD)
    assert list_sums(answer) == [2, 0, 0, 0]
    assert "Initech" in get_page_text(answer)
    assert "−€4.00" in get_page_text(answer)
    assert list_stored(acme) == []
    assert AuditEntry.objects.for_company(acme.id).filter(action="import.finished").count() == 0


def test_bad_row_is_shown_with_line_column_and_reason(editor, acme, bank):
    _, answer = open_check_page(editor, acme, bank, BAD)
    assert list_sums(answer) == [1, 0, 0, 1]
    assert "3 Date 2026-02-32 “2026-02-32” is not a valid date." in get_page_text(answer)


def test_every_kind_of_bad_row_is_reported(editor, acme, bank):
    for row, message in [
        ("2026-01-31,x,y,12.345", "Amount 12.345 EUR has 2 decimals. 12.345 has 3."),
        ('2026-01-31,x,y,"1,5"', "Amount 1,5 “1,5” is not an amount with a decimal point."),
        ("2026-01-31,x,y,n/a", "Amount n/a “n/a” is not an amount with a decimal point."),
        (",x,y,1.00", "Date empty The date is missing."),
        ("2026-01-31,x,y,1.00,extra", "entire row 2026-01-31 · x · y · 1.00 · extra The row has 5 columns"),
        ("2026-01-31,x", "entire row 2026-01-31 · x The row has 2 columns"),
        (f"2026-01-31,x,{'y' * 10_001},1.00", "The text is too long."),
        ("2026-01-31,x\0,y,1.00", "Payee x␀ Must not contain NUL characters."),
        (
            "2026-01-31,x,y,1234567890123456.00",
            "” is too large. Amounts have at most 15 digits before the decimal mark.",
        ),
    ]:
        _, answer = open_check_page(editor, acme, bank, f"{GOOD}{row}\n")
        assert list_sums(answer) == [2, 0, 0, 1], row
        shown = get_page_text(answer)
        assert message in shown, row
        assert " 4 " in shown.split("Error")[1][:6], row


def test_corrected_file_replaces_faulty_file_and_keeps_choices(editor, acme, bank):
    address, answer = open_check_page(editor, acme, bank, BAD)
    first = urlsplit(address).path.rpartition("/")[2]
    sent = parse_choices(answer) | {"keep_duplicates": "on"}
    again, answer = open_check_page(editor, acme, sent.pop("account"), GOOD, replaces=first, **sent)
    assert list_sums(answer) == [2, 0, 0, 0]
    assert dict(parse_qsl(urlsplit(again).query))["keep_duplicates"] == "on"
    gone = editor.get(address, follow=True)
    assert gone.redirect_chain[0][0] == build_page_path(acme, "/new")
    assert b"has expired" in gone.content
    assert len(default_storage.listdir(uploads.UPLOAD_FOLDER)[1]) == 1


def test_changed_import_choices_change_how_file_is_read(editor, acme, bank):
    address, answer = open_check_page(editor, acme, bank, 'Datum,Text,Betrag\n03.01.2026,a,"+1.000,00"\n')
    assert "€1,000.00" in get_page_text(answer)
    sent = parse_choices(answer) | {"date_order": "monthFirst", "flip_sign": "on"}
    changed = get_page_text(editor.get(urlsplit(address).path, sent))
    assert "1 Mar 2026" in changed
    assert "−€1,000.00" in changed


def test_invalid_import_choices_show_field_errors(editor, acme, bank):
    address, page = open_check_page(editor, acme, bank, GOOD)
    for change, message in [
        ({"amount": ""}, "Choose an amount column or debit and credit columns."),
        ({"debit": "2"}, "Choose either an amount column or debit and credit columns."),
        ({"description": "1", "counterparty": "1"}, "This column is selected twice."),
        ({"date": "99"}, "is not one of the available choices"),
        ({"skip_above": "-1", "found_above": ""}, "greater than or equal to 0"),
        ({"account": "00000000-0000-7000-8000-000000000000"}, "is not one of the available choices"),
    ]:
        answer = editor.get(urlsplit(address).path, parse_choices(page) | change)
        assert answer.status_code == 400, change
        assert message in get_page_text(answer), change
        assert b'aria-invalid="true"' in answer.content, change


def test_file_with_unrecognized_columns_asks_for_them(editor, acme, bank):
    _, answer = open_check_page(editor, acme, bank, "What,Who\nx,y\n")
    assert answer.status_code == 200
    assert "First lines of the file" in get_page_text(answer)


# ---------------------------------------------------------------------------------------------- uploading


def test_invalid_table_is_rejected_immediately(editor, acme, bank):
    for content, message in [
        (b"\x81\x8d\x00\xff\x9d", "The file is not text in UTF-8, UTF-16 or Windows-1252."),
        (
            b"PK\x03\x04" + b"\0" * 26 + b"xl/workbook.xml",
            "The workbook is damaged or protected. Save it as .xlsx without a password.",
        ),
        (b"just one column\n", "No columns found. Separate CSV columns with commas, semicolons or tabs."),
        (b"", "“bank.csv” is empty. Export it again."),
        (b" \n\n", "“bank.csv” is empty."),
        (b"%PDF-1.7 no end", "“bank.csv”: The file content is not PDF"),
        (
            b'a,b\n"never closed' + b"x" * 200_000,
            "Line 2 has a cell of more than 131,072 characters, or a quotation mark",
        ),
        (b"," * 5000, "Line 1 has 5,001 columns"),
    ]:
        answer = upload_csv(editor, acme, bank, content)
        assert answer.status_code == (413 if message.startswith("Line") else 400), content
        assert message in get_page_text(answer), content
        assert b'aria-describedby="file-error' in answer.content, content


def test_import_form_without_file_is_rejected(editor, acme, bank):
    answer = editor.post(build_page_path(acme, "/new"), {"account": bank})
    assert (answer.status_code, "Select a file." in get_page_text(answer)) == (400, True)


def test_import_file_over_size_limit_is_rejected_and_not_stored(editor, acme, bank, settings):
    settings.MAX_UPLOAD_MB = 1
    answer = upload_csv(editor, acme, bank, b"a,b\n" + b"1,2\n" * 300_000)
    assert answer.status_code == 413
    assert "maximum 1 MB" in get_page_text(answer)
    assert not default_storage.exists(uploads.UPLOAD_FOLDER)


def test_waiting_import_files_count_toward_quota(editor, acme, bank, settings):
    settings.STORAGE_QUOTA_MB = 1
    content = b"Date,Amount\n" + b"2026-01-01,1\n" * 50_000
    assert upload_csv(editor, acme, bank, content).status_code == 303
    answer = upload_csv(editor, acme, bank, content)
    assert answer.status_code == 413
    assert "storage limit of 1 MB" in get_page_text(answer)
    assert len(default_storage.listdir(uploads.UPLOAD_FOLDER)[1]) == 1


def test_partial_upload_is_removed_if_disk_is_full(acme, alice):
    class TooMuch(ContentFile):
        def chunks(self, chunk_size=None):
            yield b"Date;Amo"
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        uploads.store_upload(company_id=acme.id, user_id=alice.id, file=TooMuch(b"Date;Amount\n"))
    assert not default_storage.listdir(uploads.UPLOAD_FOLDER)[1]


def test_upload_belongs_to_its_user_and_company(editor, sign_in_browser, acme, globex, bank):
    address, _ = open_check_page(editor, acme, bank, GOOD)
    other = factories.make_member(acme, "erin@acme.example", role="editor")
    assert sign_in_browser(other, acme).client.get(address).status_code == 302
    both = factories.make_member(globex, "alice@acme.example", role="owner")
    elsewhere = sign_in_browser(both, globex).client.get(address.replace(str(acme.id), str(globex.id)))
    assert elsewhere.status_code == 302


def test_unimported_file_is_pruned_after_a_day(editor, acme, bank, capsys):
    old, _ = open_check_page(editor, acme, bank, GOOD)
    new, _ = open_check_page(editor, acme, bank, GOOD)
    (remaining,) = [
        n for n in default_storage.listdir(uploads.UPLOAD_FOLDER)[1] if urlsplit(old).path.rpartition("/")[2] in n
    ]
    yesterday = (datetime.now(tz=UTC) - timedelta(hours=25)).timestamp()
    os.utime(default_storage.path(f"{uploads.UPLOAD_FOLDER}/{remaining}"), (yesterday, yesterday))
    call_command("prune")
    assert capsys.readouterr().out.startswith("1 expired")
    assert (editor.get(old).status_code, editor.get(new).status_code) == (302, 200)


# ---------------------------------------------------------------------------------------------- importing


def test_confirmed_import_stores_the_checked_rows(editor, acme, bank):
    address, _ = open_check_page(editor, acme, bank, GOOD)
    before = datetime.now(tz=UTC) - timedelta(hours=1)
    Company.objects.filter(id=acme.id).update(last_overall_updated_time=before)
    answer = confirm_import(editor, address)
    assert answer.redirect_chain == [(build_page_path(acme), 303)]
    assert "2 transactions imported into Main." in get_page_text(answer)
    assert list_stored(acme) == [
        ("2026-01-30", "Bank", "Fee", "-4.0000"),
        ("2026-01-31", "Initech", "Invoice 1042", "1190.0000"),
    ]
    batch = ImportBatch.objects.for_company(acme.id).get()
    assert (batch.source, batch.count) == ("csv", 2)
    assert Company.objects.get(id=acme.id).last_overall_updated_time > before
    assert not default_storage.listdir(uploads.UPLOAD_FOLDER)[1]


def test_bad_rows_block_import_unless_left_out(editor, acme, bank):
    address, _ = open_check_page(editor, acme, bank, BAD)
    refused = confirm_import(editor, address)
    assert refused.status_code == 400
    assert "Some rows have errors. Fix the file, change the columns or skip those rows." in get_page_text(refused)
    assert list_stored(acme) == []
    answer = confirm_import(editor, address, leave_out="on")
    assert "1 transaction imported into Main. 1 row with errors skipped." in get_page_text(answer)
    assert len(list_stored(acme)) == 1


def test_reimport_of_same_file_adds_nothing_unless_duplicates_are_kept(editor, acme, bank):
    confirm_import(editor, open_check_page(editor, acme, bank, GOOD)[0])
    address, answer = open_check_page(editor, acme, bank, GOOD)
    assert list_sums(answer) == [0, 2, 0, 0]
    assert "Nothing new" in get_page_text(answer)
    confirm_import(editor, address, keep_duplicates="on")
    assert len(list_stored(acme)) == 4


def test_rows_before_data_start_are_skipped_and_counted(editor, api, acme, bank):
    assert api.put("", {"dataStartDate": "2026-01-31"}).status_code == 200
    _, answer = open_check_page(editor, acme, bank, GOOD)
    assert list_sums(answer) == [1, 0, 1, 0]
    assert "Before 31 Jan 2026" in get_page_text(answer)


def test_debit_and_credit_columns_form_one_signed_amount(editor, acme, bank):
    rows = "2026-01-01,a,10.00,\n2026-01-02,b,,5.00\n2026-01-03,c,-7.00,0.00\n2026-01-04,d,1.00,2.00\n"
    address, answer = open_check_page(editor, acme, bank, f"Date,Details,Debit,Credit\n{rows}")
    assert "Both debit and credit have a value." in get_page_text(answer)
    confirm_import(editor, address, leave_out="on")
    assert [row[3] for row in list_stored(acme)] == ["-10.0000", "5.0000", "7.0000"]


def test_currency_notes_and_external_id_are_imported(editor, acme, bank):
    text = "Date,Amount,Currency,Id,Notes\n2026-01-31,+5.00,usd,tx-1,hello\n2026-01-31,-6.00,XXX,tx-2,\n"
    address, answer = open_check_page(editor, acme, bank, text)
    assert "3 Currency XXX Must be one of EUR, AUD," in get_page_text(answer)
    confirm_import(editor, address, leave_out="on")
    row = Transaction.objects.for_company(acme.id).get()
    assert (row.amount_currency, row.external_id, row.notes) == ("USD", "tx-1", "hello")


def test_import_settings_are_saved_for_next_file_of_account(editor, acme, bank, api):
    api.put(f"accounts/{bank}", {"importSettings": {"csv": {"flipSign": False}, "bank": {"x": 1}}})
    text = "Day,One,Two\n02/03/2026,x,1.00\n"
    address, answer = open_check_page(editor, acme, bank, text)
    assert "Which comes first in the dates" in get_page_text(answer)
    answered = {"account": bank, "answer:dateOrder": '"monthFirst"', "answer:flipSign": "true"}
    sent = parse_choices(editor.get(urlsplit(address).path, answered))
    editor.post(urlsplit(address).path, sent)
    settings = Account.objects.for_company(acme.id).get(id=bank).import_settings
    assert settings["bank"] == {"x": 1}
    columns = {"date": "Day", "description": ["One"], "amount": "Two"}
    assert {name: value for name, value in settings["csv"]["columns"].items() if value is not None} == columns
    _, answer = open_check_page(editor, acme, bank, text.replace("02/03", "04/03"))
    assert "3 Apr 2026" in get_page_text(answer)
    assert "−€1.00" in get_page_text(answer)


def test_repeated_confirmation_imports_file_once(editor, acme, bank):
    address, answer = open_check_page(editor, acme, bank, GOOD)
    sent = parse_choices(answer)
    confirm_import(editor, address)
    again = editor.post(urlsplit(address).path, sent, follow=True)
    assert "Check the list of imports: you may have imported it already." in get_page_text(again)
    assert len(list_stored(acme)) == 2


def test_concurrent_confirmations_import_file_once(editor, acme, bank, monkeypatch):
    address, answer = open_check_page(editor, acme, bank, GOOD)
    sent = parse_choices(answer) | {"keep_duplicates": "on"}
    waits = companies_change.lock_company

    def meanwhile(company):  # the other click is done while this one waits for its turn
        monkeypatch.setattr(companies_change, "lock_company", waits)
        assert "2 transactions imported" in get_page_text(editor.post(urlsplit(address).path, sent, follow=True))
        waits(company)

    monkeypatch.setattr(companies_change, "lock_company", meanwhile)
    page_text = get_page_text(editor.post(urlsplit(address).path, sent, follow=True))
    assert "Check the list of imports: you may have imported it already." in page_text
    assert "transactions imported" not in page_text


def test_failed_import_does_not_mark_company_as_updated(editor, acme, bank):
    address, _ = open_check_page(editor, acme, bank, BAD)
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    Company.objects.filter(id=acme.id).update(last_overall_updated_time=long_ago)
    assert confirm_import(editor, address).status_code == 400
    assert Company.objects.get(id=acme.id).last_overall_updated_time == long_ago


def test_account_of_other_company_is_not_a_valid_choice(editor, acme, bank, globex_api):
    foreign = globex_api.post("accounts", {"name": "Theirs", "type": "bank"}).json()["id"]
    address, answer = open_check_page(editor, acme, bank, GOOD)
    refused = editor.post(urlsplit(address).path, parse_choices(answer) | {"account": foreign})
    assert refused.status_code == 400
    assert Transaction.objects.count() == 0


def test_import_page_without_accounts_needs_permission_to_create_one(editor, sign_in_browser, acme):
    assert b'type="file"' in editor.get(build_page_path(acme, "/new")).content
    held = ["transactions:read", "transactions:write", "accounts:read"]
    member = sign_in_browser(factories.make_member(acme, "some@acme.example", permissions=held), acme).client
    answer = member.get(build_page_path(acme, "/new"))
    assert "No accounts yet" in get_page_text(answer)
    assert b'type="file"' not in answer.content


# ---------------------------------------------------------------------------------------------- history and undo


def test_import_history_shows_source_user_and_count(editor, viewer, api, acme, bank):
    confirm_import(editor, open_check_page(editor, acme, bank, GOOD)[0])
    item = {"accountId": bank, "date": "2026-01-01", "amountValue": "1", "externalId": "one"}
    api.post("transactions/import", {"transactions": [item, item]})
    theirs, ours = get_page_text(viewer.get(build_page_path(acme))), get_page_text(editor.get(build_page_path(acme)))
    assert "bank.csv CSV file Main Some Person 2 Show" in ours
    assert "import Main API key “test” 1 Duplicates: 1 Show" in ours
    assert "CSV file Main another person 2 Show" in theirs
    assert "import Main an API key 1 Duplicates: 1 Show" in theirs
    assert "Undo" not in theirs


def test_import_undo_reports_removed_and_changed_rows(editor, api, acme, bank):
    confirm_import(editor, open_check_page(editor, acme, bank, GOOD)[0])
    row = Transaction.objects.for_company(acme.id).first()
    assert api.put(f"transactions/{row.id}", {"notes": "seen"}).status_code == 200
    batch = ImportBatch.objects.for_company(acme.id).get()
    answer = editor.post(build_page_path(acme, f"/{batch.id}/undo"), follow=True)
    assert "2 transactions deleted. 1 of them had been edited." in get_page_text(answer)
    assert list_stored(acme) == []
    again = editor.post(build_page_path(acme, f"/{batch.id}/undo"), follow=True)
    assert "The import was already undone." in get_page_text(again)


def test_import_undo_locks_company_before_reading_import(editor, acme, bank, django_assert_max_num_queries):
    confirm_import(editor, open_check_page(editor, acme, bank, GOOD)[0])
    batch = ImportBatch.objects.for_company(acme.id).get()
    with django_assert_max_num_queries(40) as sent:
        editor.post(build_page_path(acme, f"/{batch.id}/undo"))
    statements = [each["sql"] for each in sent.captured_queries]
    turn = next(n for n, sql in enumerate(statements) if "pg_advisory_xact_lock" in sql)
    look = next(n for n, sql in enumerate(statements) if "FOR UPDATE" in sql and "importbatch" in sql)
    assert turn < look


def test_import_history_is_paged_with_constant_queries(editor, acme, audit_context, django_assert_num_queries):
    def add(count):
        ImportBatch.objects.bulk_create(
            ImportBatch(
                company=acme,
                source="csv",
                count=n,
                skipped_before_data_start=0,
                duplicates=0,
                created_time=audit_context.time,
                created_user_id=f"apiKey:{acme.id}",
            )
            for n in range(count)
        )

    add(1)
    editor.get(build_page_path(acme))
    with django_assert_num_queries(
        10
    ):  # session, user, membership, imports, payments of invoices, rules, keys, companies to switch to, unread, inbox
        editor.get(build_page_path(acme))
    add(19)
    with django_assert_num_queries(10):
        answer = editor.get(build_page_path(acme))
    following = re.search(r'href="(\?cursor=[^"]+)"', answer.content.decode())[1]
    assert editor.get(build_page_path(acme) + unescape(following)).content.count(b">CSV file<") == 8
    assert editor.get(build_page_path(acme, "?cursor=x")).status_code == 400


def test_import_check_queries_do_not_grow_with_rows(editor, acme, bank, django_assert_max_num_queries):
    counted = []
    for count in (1, 300):
        text = "Date,Amount\n" + "2026-01-31,1.00\n" * count
        address, _ = open_check_page(editor, acme, bank, text)
        with django_assert_max_num_queries(20) as seen:
            editor.get(address)
        counted.append(len(seen.captured_queries))
    assert counted[0] == counted[1]


def test_row_with_two_errors_counts_as_one_bad_row(editor, acme, bank):
    text = "Date,Payee,Details,Amount\n2026-01-31,Initech,Invoice 1042,+1190.00\n2026-02-32,Bank,Fee,x\n"
    address, answer = open_check_page(editor, acme, bank, text)
    assert answer.content.decode().count('data-label="Error"') == 1  # the first of them
    assert list_sums(answer)[3] == 1
    assert "Skip the row with errors" in get_page_text(answer)
    answer = confirm_import(editor, address, leave_out="on")
    assert "1 transaction imported into Main. 1 row with errors skipped." in get_page_text(answer)

"""How far the server is with files that somebody waits for, told at the address that does the work."""

from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from ledger.bank_statements.parsers import camt
from ledger.imports import progress
from ledger.imports.actions import imports, uploads
from tests.ledger.bank_file_builders import build_simple_camt
from tests.ledger.statement_upload import list_stored_rows

pytestmark = pytest.mark.django_db
FEBRUARY = {"start": "2026-02-01", "end": "2026-02-28", "day": "2026-02-10", "opening": "85.50"}


@pytest.fixture
def note_every_row(monkeypatch):
    """Note progress after each row."""
    monkeypatch.setattr(progress, "NOTE_INTERVAL_SECONDS", 0)
    monkeypatch.setattr(progress, "ROWS_PER_NOTE", 1)


@pytest.fixture
def import_path(editor, acme, main_account):
    """The path of an import of two statements, before it is confirmed."""
    files = [("1.xml", build_simple_camt("-40.00", "25.50")), ("2.xml", build_simple_camt("-1.00", **FEBRUARY))]
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return editor.post(f"/app/companies/{acme.id}/imports/new", {"file": sent})["Location"]


def get_progress(client, import_path):
    return client.get(import_path, headers={"Accept": "application/json"}).json()


@contextmanager
def poll_at_each_row(monkeypatch, ask):
    """What is answered while rows are stored."""
    heard, copied = [], imports.copy_lines

    def copy(table, columns, lines):
        copied(table, columns, (heard.append(ask()) or line for line in lines))

    with monkeypatch.context() as patch:
        patch.setattr(imports, "copy_lines", copy)
        yield heard


def summarize_notes(notes):
    return [(each["file"], each["files"], each["kind"], each["done"], each["of"]) for each in notes]


BOTH = [(1, 2, "rows", 0, 2), (1, 2, "rows", 1, 2), (2, 2, "rows", 0, 1)]


def test_progress_names_file_and_rows(editor, acme, import_path, note_every_row, monkeypatch):
    with poll_at_each_row(monkeypatch, lambda: get_progress(editor, import_path)) as heard:
        assert editor.get(import_path).status_code == 200
    assert summarize_notes(heard) == BOTH
    assert get_progress(editor, import_path) == {}
    assert list_stored_rows(acme) == []


def test_progress_is_shown_while_rows_are_stored(editor, acme, import_path, note_every_row, monkeypatch):
    with poll_at_each_row(monkeypatch, lambda: get_progress(editor, import_path)) as heard:
        parts = urlsplit(import_path)
        assert editor.post(parts.path, parse_qs(parts.query)).status_code == 303
    assert summarize_notes(heard) == BOTH
    assert len(list_stored_rows(acme)) == 3
    assert default_storage.listdir(progress.PROGRESS_FOLDER)[1] == []


def test_progress_is_hidden_from_other_users(
    editor, sign_in_browser, carol, acme, globex, import_path, note_every_row, monkeypatch
):
    other = sign_in_browser(carol, globex).client
    theirs = import_path.replace(str(acme.id), str(globex.id))
    with poll_at_each_row(monkeypatch, lambda: get_progress(other, theirs)) as heard:
        editor.get(import_path)
    assert heard == [{}, {}, {}]


def test_short_imports_leave_no_progress(editor, import_path, monkeypatch):
    with poll_at_each_row(monkeypatch, lambda: get_progress(editor, import_path)) as heard:
        editor.get(import_path)
    assert heard == [{}, {}, {}]


def test_rejected_file_leaves_no_progress(editor, acme, main_account, note_every_row):
    file = SimpleUploadedFile("1.xml", build_simple_camt("-40.00")[:-30])
    address = editor.post(f"/app/companies/{acme.id}/imports/new", {"file": file})["Location"]
    assert "Line" in editor.get(address).content.decode()
    assert get_progress(editor, address) == {}


def test_long_file_reports_bytes_read_as_progress(monkeypatch):
    heard = []
    content = build_simple_camt("-40.00").replace(b"<Ntry>", b"<!-- " + b"x" * 300_000 + b" --><Ntry>")
    camt.read_camt(content, max_entries=10, on_progress=heard.append)
    assert heard[0] == 0
    assert all(0 < after - before <= camt.CHUNK_BYTES for before, after in pairwise(heard))
    assert heard[-1] == len(content)


def test_csv_rows_are_reported_as_progress(editor, acme, bank, note_every_row, monkeypatch):
    file = SimpleUploadedFile("a.csv", b"Date,Amount,Text\n2026-01-05,-4.50,Coffee\n2026-01-06,-3.00,Tea\n")
    address = editor.post(f"/app/companies/{acme.id}/imports/new", {"file": file, "account": bank})["Location"]
    page = editor.get(address).content.decode()
    assert 'data-upload-form="Importing transactions"' in page
    chosen = editor.get(address).context["form"].hidden
    with poll_at_each_row(monkeypatch, lambda: get_progress(editor, address)) as heard:
        assert editor.post(urlsplit(address).path, dict(chosen)).status_code == 303
    assert summarize_notes(heard) == [(0, 1, "rows", 0, 2), (0, 1, "rows", 1, 2)]


def test_progress_write_failure_does_not_stop_import(editor, acme, import_path, note_every_row, monkeypatch):
    def full(*_args, **_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Storage, "save", full)
    assert b"Import 3 transactions" in editor.get(import_path).content


def test_stale_progress_is_deleted_after_a_day(acme, alice, settings):
    owned = {"company_id": acme.id, "user_id": alice.pk, "upload_id": "00000000-0000-7000-8000-000000000000"}
    default_storage.save(progress.build_progress_file_name(**owned), ContentFile(b'{"of": 1}'))
    assert uploads.prune_uploads(now=timezone.now()) == 0
    assert progress.read_import_progress(**owned) == {"of": 1}
    assert uploads.prune_uploads(now=timezone.now() + timedelta(days=1, seconds=1)) == 1
    assert progress.read_import_progress(**owned) == {}

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

from ledger.importing import imports, progress, uploads
from ledger.statements.calc import camt
from tests.ledger.banks import simple
from tests.ledger.receiving import rows

pytestmark = pytest.mark.django_db
FEBRUARY = {"start": "2026-02-01", "end": "2026-02-28", "day": "2026-02-10", "opening": "85.50"}


@pytest.fixture
def editor(browser_of, alice, acme):
    return browser_of(alice, acme).client


@pytest.fixture
def every_row(monkeypatch):
    """As if each row took a second."""
    monkeypatch.setattr(progress, "APART", 0)
    monkeypatch.setattr(progress, "ROWS_APART", 1)


@pytest.fixture
def address(editor, acme, main):
    """Where two statements are looked at and stored."""
    files = [("1.xml", simple("-40.00", "25.50")), ("2.xml", simple("-1.00", **FEBRUARY))]
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return editor.post(f"/app/companies/{acme.id}/imports/new", {"file": sent})["Location"]


def far(client, address):
    return client.get(address, headers={"Accept": "application/json"}).json()


@contextmanager
def asked_at_each_row(monkeypatch, ask):
    """What is answered while rows are stored."""
    heard, copied = [], imports.copy_lines

    def copy(table, columns, lines):
        copied(table, columns, (heard.append(ask()) or line for line in lines))

    with monkeypatch.context() as patch:
        patch.setattr(imports, "copy_lines", copy)
        yield heard


def in_short(notes):
    return [(each["file"], each["files"], each["kind"], each["done"], each["of"]) for each in notes]


BOTH = [(1, 2, "rows", 0, 2), (1, 2, "rows", 1, 2), (2, 2, "rows", 0, 1)]


def test_it_is_told_which_file_and_how_many_rows_while_they_are_tried(editor, acme, address, every_row, monkeypatch):
    with asked_at_each_row(monkeypatch, lambda: far(editor, address)) as heard:
        assert editor.get(address).status_code == 200
    assert in_short(heard) == BOTH
    assert far(editor, address) == {}
    assert rows(acme) == []


def test_and_while_they_are_stored(editor, acme, address, every_row, monkeypatch):
    with asked_at_each_row(monkeypatch, lambda: far(editor, address)) as heard:
        parts = urlsplit(address)
        assert editor.post(parts.path, parse_qs(parts.query)).status_code == 303
    assert in_short(heard) == BOTH
    assert len(rows(acme)) == 3
    assert default_storage.listdir(progress.FOLDER)[1] == []


def test_nobody_else_is_told(editor, browser_of, carol, acme, globex, address, every_row, monkeypatch):
    other = browser_of(carol, globex).client
    theirs = address.replace(str(acme.id), str(globex.id))
    with asked_at_each_row(monkeypatch, lambda: far(other, theirs)) as heard:
        editor.get(address)
    assert heard == [{}, {}, {}]


def test_what_takes_less_than_a_second_leaves_no_note(editor, address, monkeypatch):
    with asked_at_each_row(monkeypatch, lambda: far(editor, address)) as heard:
        editor.get(address)
    assert heard == [{}, {}, {}]


def test_a_refused_file_leaves_none_either(editor, acme, main, every_row):
    file = SimpleUploadedFile("1.xml", simple("-40.00")[:-30])
    address = editor.post(f"/app/companies/{acme.id}/imports/new", {"file": file})["Location"]
    assert "Line" in editor.get(address).content.decode()
    assert far(editor, address) == {}


def test_of_a_long_file_it_is_told_how_much_of_it_is_read(monkeypatch):
    heard = []
    content = simple("-40.00").replace(b"<Ntry>", b"<!-- " + b"x" * 300_000 + b" --><Ntry>")
    camt.read(content, most=10, far=heard.append)
    assert heard[0] == 0
    assert all(0 < after - before <= camt.AT_ONCE for before, after in pairwise(heard))
    assert heard[-1] == len(content)


def test_rows_of_a_csv_file_are_told_too(editor, acme, bank, every_row, monkeypatch):
    file = SimpleUploadedFile("a.csv", b"Date,Amount,Text\n2026-01-05,-4.50,Coffee\n2026-01-06,-3.00,Tea\n")
    address = editor.post(f"/app/companies/{acme.id}/imports/new", {"file": file, "account": bank})["Location"]
    page = editor.get(address).content.decode()
    assert 'data-sending="Importing 2 transactions"' in page
    chosen = editor.get(address).context["form"].hidden
    with asked_at_each_row(monkeypatch, lambda: far(editor, address)) as heard:
        assert editor.post(urlsplit(address).path, dict(chosen)).status_code == 303
    assert in_short(heard) == [(0, 1, "rows", 0, 2), (0, 1, "rows", 1, 2)]


def test_a_note_that_cannot_be_written_stops_no_import(editor, acme, address, every_row, monkeypatch):
    def full(*_args, **_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Storage, "save", full)
    assert b"Import 3 transactions" in editor.get(address).content


def test_what_a_stopped_process_left_is_deleted_after_a_day(acme, alice, settings):
    owned = {"company_id": acme.id, "user_id": alice.pk, "upload_id": "00000000-0000-7000-8000-000000000000"}
    default_storage.save(progress.place(**owned), ContentFile(b'{"of": 1}'))
    assert uploads.prune(now=timezone.now()) == 0
    assert progress.noted(**owned) == {"of": 1}
    assert uploads.prune(now=timezone.now() + timedelta(days=1, seconds=1)) == 1
    assert progress.noted(**owned) == {}

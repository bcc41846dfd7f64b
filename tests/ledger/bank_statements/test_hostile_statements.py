"""Bank files made to hold a worker: each is refused early, with the line; large honest ones are read."""

import pytest

from ledger.bank_statements.parsers import formats, qif
from ledger.bank_statements.parsers.models import UnreadableFileError

MIB = 1024 * 1024
MT940 = b":20:A\n:25:DE1\n:28C:1\n:60F:C260101EUR0,00\n"
MOVED = b":61:2601010101C1,25NTRF\n:86:"
OFX = b"OFXHEADER:100\n\n<OFX><STMTRS><CURDEF>EUR\n"
CAMT = b"<Document><BkToCstmrStmt><Stmt>"
QIF = b"!Type:Bank\n"
TEXT, LINES, ELEMENTS = "The text is longer than", "more than 250000 lines", "Too many elements."


def read_file(content, most=100_000):
    if formats.detect_file_kind(content) == formats.QIF:
        return qif.read_qif_entries(
            formats.iterate_text_lines(content),
            find_currency=lambda _: "EUR",
            order=None,
            default_order="dayFirst",
            max_entries=most,
        )
    return formats.read_statement_file(content, formats.detect_file_kind(content), max_entries=most)


@pytest.mark.parametrize(
    ("begin", "again", "why"),
    [
        (MT940 + MOVED + b"166", b"?20", TEXT),
        (MT940 + MOVED, b"/ID/", TEXT),
        (MT940 + MOVED, b"x\n", TEXT),
        (MT940 + MOVED, b"\n", TEXT),
        (MT940 + b"-\n", b"\n", LINES),
        (MT940, b"-\n", LINES),
        (MT940, b":99:\n", LINES),
        (OFX, b"<A>", ELEMENTS),
        (OFX, b"<A>x", ELEMENTS),
        (OFX, b"</A>\n", ELEMENTS),
        (CAMT, b"<Id/>", ELEMENTS),
        (CAMT, b"<Bal/>", ELEMENTS),
        (b"<Document>", b"<a/>", ELEMENTS),
        (QIF, b"\n", LINES),
        (QIF, b"^\n", LINES),
        (QIF, b"Dx", TEXT),
    ],
)
def test_file_with_endless_tiny_elements_is_rejected_early(monkeypatch, begin, again, why):
    assert formats.MAX_LINES == 25 * 100_000  # of 100,000 entries each may well have 25
    monkeypatch.setattr(formats, "MAX_LINES", 250_000)
    with pytest.raises(UnreadableFileError, match=why) as refused:
        read_file(begin + again * (14 * MIB // len(again)))
    assert refused.value.line > 0


def test_long_but_valid_files_are_read():
    """A text as long as the ledger holds, in as many lines as that takes; tags by the hundred thousand."""
    text = b"166" + b"".join(b"?%02d%s\n" % (20 + n, b"x" * 900) for n in range(10))
    (statement,) = read_file(MT940 + MOVED + text + b":62F:C260131EUR1,25\n-\n").statements
    assert len(statement.entries[0].description) == 9000
    movement = b"<STMTTRN>" + b"<MEMO>x" * 90 + b"<DTPOSTED>20260101<TRNAMT>1</STMTTRN>\n"
    (statement,) = read_file(OFX + movement * 3000 + b"</STMTRS></OFX>").statements
    assert len(statement.entries) == 3000


@pytest.mark.parametrize("time", ["2026 1 1", "2026+1+1", "20261301", "20260100", "soon"])
def test_ofx_time_with_invalid_date_is_rejected_with_line_number(time):
    movement = f"<STMTTRN><DTPOSTED>{time}<TRNAMT>1</STMTTRN>\n".encode()
    with pytest.raises(UnreadableFileError, match=r"Line 4: .*is not a valid time"):
        read_file(OFX + movement + b"</STMTRS></OFX>")

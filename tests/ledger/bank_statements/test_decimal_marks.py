"""OFX and QIF: one decimal mark for all amounts of a file, and a refusal where they differ."""

import pytest

from ledger.calc.written_amounts import MixedMarksError, find_decimal_mark, parse_written_amount
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


def ofx(*amounts):
    entries = "".join(
        f"<STMTTRN><TRNTYPE>OTHER<DTPOSTED>202601{position + 10}<TRNAMT>{amount}<FITID>{position}\n</STMTTRN>\n"
        for position, amount in enumerate(amounts)
    )
    head = "OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR\n<BANKTRANLIST>\n"
    return f"{head}{entries}</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>".encode()


def qif(*amounts):
    entries = "".join(f"D2026-01-{position + 10}\nT{amount}\n^\n" for position, amount in enumerate(amounts))
    return f"!Type:Bank\n{entries}".encode()


def test_decimal_mark_is_detected_for_whole_file(upload_statement_file, acme, bank):
    for write in [ofx, qif]:
        for amounts, read in [
            (("-4,50", "1.234"), ["-4.50", "1234.00"]),
            (("-4,50", "1.234,00"), ["-4.50", "1234.00"]),
            (("-4.50", "1,234"), ["-4.50", "1234.00"]),
            (("-4", "1,234"), ["-4.00", "1234.00"]),
        ]:
            with undo_changes():
                upload_statement_file(write(*amounts), accountId=bank)
                assert [row[1] for row in list_stored_rows(acme)] == read, (write, amounts)


def test_file_with_mixed_decimal_marks_is_rejected(api, acme, bank):
    for write in [ofx, qif]:
        for amounts in [("-4,50", "-1,234"), ("-4,50", "2.25"), ("-1.234,50", "12.50")]:
            assert get_status_and_code(upload_statement(api, write(*amounts), accountId=bank)) == (
                400,
                "statement_unreadable",
            )
            assert list_stored_rows(acme) == [], (write, amounts)


@pytest.mark.parametrize(
    ("texts", "mark"),
    [(["1,234", "5"], ""), (["-0,750"], ","), (["1,234,567"], "."), (["12.3.4", "4,5"], ","), (["1.50", "1,234"], ".")],
)
def test_decimal_mark_is_detected_from_unambiguous_amounts(texts, mark):
    assert find_decimal_mark(texts) == mark


def test_mixed_decimal_marks_error_lists_amounts():
    with pytest.raises(MixedMarksError) as mixed:
        find_decimal_mark(["1", "4,50", "2.25"])
    assert mixed.value.texts == ("4,50", "2.25")


def test_amount_is_parsed_with_given_decimal_mark():
    assert [parse_written_amount("1,234", mark) for mark in ("", ".", ",")] == ["1234", "1234", "1.234"]

"""Tables in odd encodings, archives and workbooks: read rightly, asked about, or refused with a code."""

import io
import zipfile
from datetime import date, datetime, time, timedelta

import pytest
from openpyxl import Workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from ledger.models import Transaction
from tests.ledger.archives import build_xlsx, build_zip
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
HEADINGS = ["Date", "Text", "Amount"]
TEXT = "Date,Text,Amount\n2026-01-15,Müller,-10.50\n2026-01-16,Sale,20.00\n"
TWO = [("2026-01-15", "-10.50", "EUR", "Müller"), ("2026-01-16", "20.00", "EUR", "Sale")]
ONE = [("2026-01-31", "-1.00", "EUR", "a")]


def since_1904(*rows):
    book = Workbook()
    book.epoch = CALENDAR_MAC_1904
    return build_xlsx(*rows, book=book)


def same_name_twice():
    """An archive of two files whose names are alike."""
    content = build_zip(**{"a.csv": TEXT.encode(), "b.csv": TEXT.replace("10.50", "11.50").encode()})
    return content.replace(b"b.csv", b"a.csv")


def wide_sizes():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed, packed.open("a.csv", "w", force_zip64=True) as file:
        file.write(TEXT.encode())
    return out.getvalue()


READ = {
    "UTF-16 in an archive": (build_zip(**{"a.csv": TEXT.encode("utf-16")}), TWO),
    "UTF-16 without its mark in an archive": (build_zip(**{"a.csv": TEXT.encode("utf-16-le")}), TWO),
    "Windows-1252 and Windows' line ends in an archive": (
        build_zip(**{"a.csv": TEXT.replace("\n", "\r\n").encode("cp1252")}),
        TWO,
    ),
    "a byte order mark in an archive": (build_zip(**{"a.csv": TEXT.encode("utf-8-sig")}), TWO),
    "a text file in an archive": (build_zip(**{"export.txt": TEXT.encode()}), TWO),
    "carriage returns alone": (TEXT.replace("\n", "\r").encode(), TWO),
    "an end-of-file sign": (TEXT.encode() + b"\x1a", TWO),
    "an archive of 8-byte sizes": (wide_sizes(), TWO),
    "an archive with one name twice": (same_name_twice(), [TWO[0], ("2026-01-15", "-11.50", "EUR", "Müller"), TWO[1]]),
    "headings alone beside a statement": (build_zip(**{"a.csv": TEXT.encode(), "b.csv": b"Date,Text,Amount\n"}), TWO),
    "text dates": (build_xlsx(HEADINGS, ["31.01.2026", "a", -1]), ONE),
    "text dates and real ones since 1904": (
        since_1904(HEADINGS, ["31.01.2026", "a", -1], [datetime(2026, 2, 1), "b", -2]),
        [*ONE, ("2026-02-01", "-2.00", "EUR", "b")],
    ),
    "times and durations": (
        build_xlsx(
            ["Date", "Time", "Took", "Text", "Amount"], [date(2026, 1, 31), time(14, 30), timedelta(hours=30), "a", -1]
        ),
        ONE,
    ),
    "brackets as text": (build_xlsx(HEADINGS, ["2026-01-31", "a", "(1.00)"]), ONE),
    "a format without minus": (build_xlsx(HEADINGS, ["2026-01-31", "a", -1], formats={"C2": "0.00;[Red]0.00"}), ONE),
    "a format of thousands": (
        build_xlsx(HEADINGS, ["2026-01-31", "a", -1500], formats={"C2": '0.0,"k"'}),
        [("2026-01-31", "-1500.00", "EUR", "a")],
    ),
    "empty rows and a sum": (build_xlsx(HEADINGS, [], ["2026-01-31", "a", -1], [None] * 3, ["Total", None, -1]), ONE),
}  # fmt: skip
REFUSED = {
    "a zero sign in a text": (TEXT.replace("Sale", "Sa\0le").encode(), "statement_unreadable"),
    "a zero sign in an amount": (TEXT.replace("20.00", "2\x000.00").encode(), "statement_unreadable"),
    "zero signs at the end": (TEXT.encode() + bytes(50), "statement_format_unknown"),
    "an empty workbook": (build_xlsx(), "statement_format_unknown"),
    "an archive of empty files": (build_zip(**{"a.csv": b"", "b.csv": b" \n"}), "statement_format_unknown"),
    "an OpenDocument sheet": (
        build_zip(**{"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": b"<office/>"}),
        "statement_format_unknown",
    ),
    "a binary workbook": (
        build_zip(**{"[Content_Types].xml": b"<a/>", "xl/workbook.bin": b"\0"}),
        "statement_format_unknown",
    ),
    "ambiguous text dates": (
        build_xlsx(HEADINGS, ["02/01/2026", "a", -1], ["01/02/2026", "b", -2]),
        "mapping_ambiguous",
    ),
    "an error in a cell": (
        build_xlsx(HEADINGS, ["2026-01-31", "a", -1], ["2026-01-31", "b", "#N/A"]),
        "statement_unreadable",
    ),
    "a day as a plain number": (build_xlsx(HEADINGS, [46053, "a", -1], [46054, "b", -2]), "columns_unknown"),
    "a currency column against the number's": (
        build_xlsx([*HEADINGS, "Currency"], ["2026-01-31", "a", -1, "USD"], formats={"C2": "[$£-809]0.00"}),
        "currency_unknown",
    ),
}


def stored(company):
    rows = Transaction.objects.for_company(company.id).without_initial_balances().order_by("date", "-amount_value")
    return [(str(row.date), f"{row.amount_value:.2f}", row.amount_currency, row.description) for row in rows]


def test_odd_table_is_read_correctly(acme, upload_statement_file, bank):
    for case, (content, expected) in READ.items():
        with undo_changes():
            upload_statement_file(content, accountId=bank)
            assert stored(acme) == expected, case


def test_unreadable_odd_table_is_rejected(api, acme, bank):
    for case, (content, expected) in REFUSED.items():
        assert get_status_and_code(upload_statement(api, content, accountId=bank))[1] == expected
        assert stored(acme) == [], case


PAYOUTS = """{id_heading}Payout Date,Status,Charges,Refunds,Fees,Total,Currency
{first}2024-03-27,paid,1050.00,-20.00,-31.75,998.25,EUR
{second}2024-03-26,paid,500.00,-700.00,-11.75,-211.75,EUR
"""


@pytest.mark.parametrize("positions", [("", "", ""), ("Payout ID,", "9871,", "9872,")], ids=["without id", "with id"])
def test_payouts_without_texts_are_described_as_payouts(api, acme, bank, positions):
    content = PAYOUTS.format(**dict(zip(("id_heading", "first", "second"), positions, strict=True)))
    settings = '{"csv": {"flipSign": false, "columns": {"fee": null, "amount": "Total"}}}'
    answer = upload_statement(api, content.encode(), "payouts.csv", accountId=bank, importSettings=settings)
    assert answer.status_code == 200, answer.content
    rows = Transaction.objects.for_company(acme.id).without_initial_balances().order_by("-date")
    assert [(f"{row.amount_value:.2f}", row.description) for row in rows] == [
        ("998.25", "Payout"),
        ("-211.75", "Payout"),
    ]

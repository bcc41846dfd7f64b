"""Reading banks' files: what each format says, whatever its version, its encoding and its writer's habits."""

from decimal import Decimal
from pathlib import Path

import pytest

from ledger.bank_statements.parsers import formats, mt940, ofx, qif
from ledger.bank_statements.parsers.models import TooManyEntriesError, UnreadableFileError, UnsafeXmlError
from tests.ledger import bank_file_builders
from tests.ledger.bank_file_builders import build_camt, build_detail, build_entry, build_statement

SAMPLES = Path(__file__).parents[3] / "data" / "statements"


def read_statements(content):
    return formats.read_statement_file(content, formats.detect_file_kind(content), most=1000)


def read_single_statement(content):
    """The entries of a file with one statement."""
    (result,) = read_statements(content).statements
    return result.entries


# ---------------------------------------------------------------------------------- others' files


@pytest.mark.parametrize(
    ("name", "format_", "statements", "entries", "booked", "differences"),
    [
        ("camt052_v2_viafintech.xml", "camt.052", 1, 2, "5", 0),
        ("camt052_v6_genkgo.xml", "camt.052", 1, 1, "0", 0),
        ("camt053_v2_viafintech.xml", "camt.053", 1, 4, "-10", 0),
        ("camt053_v2_two_genkgo.xml", "camt.053", 2, 2, "1.85", 0),
        ("camt053_v4_viafintech.xml", "camt.053", 1, 13, "537.61", 0),
        # Their writers left entries out and kept the balances: told, and not mended.
        ("camt053_v2_batch_viafintech.xml", "camt.053", 1, 3, "2934.26", 1),
        ("camt053_v8_viafintech.xml", "camt.053", 1, 3, "543.56", 1),
        ("camt053_v2_decimals_genkgo.xml", "camt.053", 1, 1, "8.85", 1),
        ("camt054_v4_viafintech.xml", "camt.054", 1, 4, "59.03", 0),
        ("camt054_v8_genkgo.xml", "camt.054", 1, 1, "-200000", 0),
        ("mt940_asnb.sta", "mt940", 31, 8, "56.94", 0),
        ("mt940_betterplace.sta", "mt940", 20, 97, "-9269135.90", 0),
        ("mt940_citi.sta", "mt940", 1, 5, "-1142.75", 0),
        ("mt940_cmxl.sta", "mt940", 3, 16, "12327.30", 0),
        ("mt940_february_30.sta", "mt940", 1, 1, "-6", 0),
        ("mt940_mbank.sta", "mt940", 1, 3, "0.03", 0),
        ("mt940_mbank_942.sta", "mt942", 1, 3, "0", 0),
        ("mt940_mt942.sta", "mt942", 1, 1, "0", 0),
        ("mt940_postfinance.sta", "mt940", 1, 4, "159.40", 1),
        ("mt940_rabobank.sta", "mt940", 2, 4, "-70", 0),
        ("mt940_sns.sta", "mt940", 2, 2, "-25", 0),
        ("mt940_two_accounts.sta", "mt940", 2, 2, "-80", 0),
        ("mt940_field86_digits.sta", "mt940", 1, 1, "-44.04", 0),
        ("mt940_without_20.sta", "mt940", 1, 1, "250", 0),
        ("mt940_other_separator.sta", "mt940", 1, 1, "-15.70", 0),
        ("ofx_other_currency.ofx", "ofx", 1, 1, "-4.00", 0),
    ],
)  # fmt: skip
def test_published_samples_have_expected_entries_and_sums(name, format_, statements, entries, booked, differences):
    file = read_statements((SAMPLES / name).read_bytes())
    result = file.statements
    assert (file.format, len(result), sum(len(each.entries) for each in result)) == (format_, statements, entries)
    assert sum(each.booked_sum for each in result) == Decimal(booked)
    assert sum(1 for each in result if each.difference) == differences


def test_every_published_sample_is_tested():
    cases = next(mark for mark in test_published_samples_have_expected_entries_and_sums.pytestmark if mark.args).args[1]
    assert {case[0] for case in cases} == {path.name for path in SAMPLES.iterdir()} - {
        "SOURCES.md",
        "qif_two_accounts.qif",
    }


# ---------------------------------------------------------------------------------- CAMT


@pytest.mark.parametrize("version", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
@pytest.mark.parametrize("prefix", ["", "ns2"])
@pytest.mark.parametrize("kind", ["052", "053", "054"])
def test_camt_versions_are_read_with_and_without_namespace_prefix(kind, prefix, version):
    movement = build_entry("-12.50", ref="R1", version=version)
    content = build_camt(build_statement(movement, kind=kind), kind=kind, version=version, prefix=prefix)
    assert read_statements(content).format == f"camt.{kind}"
    (row,) = read_single_statement(content)
    assert (row.amount, row.from_to, row.description, row.reference, row.pending) == (
        "-12.5",
        "Initech GmbH",
        "Invoice 1042",
        "R1",
        False,
    )


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("iso-8859-1", "ISO-8859-1"),
        ("cp1252", "windows-1252"),
        ("cp1252", "UTF-8"),  # a lie, and a usual one
        ("utf-8", "utf-16"),
    ],
)
def test_camt_text_is_decoded_by_declared_or_detected_encoding(encoding, declared):
    content = build_camt(
        build_statement(build_entry("1.00", name="Müller & Söhne")), encoding=encoding, declared=declared
    )
    assert read_single_statement(content)[0].from_to == "Müller & Söhne"


def test_camt_with_unknown_encoding_is_unreadable():
    for declared in ("shift_jis", "klingon", "zlib"):
        with pytest.raises(UnreadableFileError):
            read_statements(
                build_camt(build_statement(build_entry("1.00", name="é")), encoding="cp1252", declared=declared)
            )


@pytest.mark.parametrize(
    ("status", "kind", "pending"),
    [("BOOK", "052", False), ("PDNG", "053", True), ("INFO", "053", True), ("", "053", False), ("", "052", True)],
)
def test_unbooked_entries_are_pending(status, kind, pending):
    content = build_camt(build_statement(build_entry("1.00", status=status), kind=kind), kind=kind)
    assert read_single_statement(content)[0].pending is pending


def test_camt_reversal_keeps_sign_and_names_party_of_original():
    (row,) = read_single_statement(
        build_camt(build_statement(build_entry("40.00", name="Initech GmbH", reversal=True)))
    )
    assert (row.amount, row.from_to) == ("40", "Initech GmbH")


def test_camt_notes_contain_value_date_end_to_end_id_and_mandate():
    detail = build_detail(text="Rent", end_to_end="E2E-1", mandate="M-1", of="1.00")
    (row,) = read_single_statement(
        build_camt(build_statement(build_entry("-1.00", value_day="2026-01-20", details=detail)))
    )
    assert row.notes == "Value date 2026-01-20\nEnd-to-end E2E-1\nMandate M-1"
    (plain,) = read_single_statement(
        build_camt(
            build_statement(build_entry("-1.00", details=build_detail(text="Rent", end_to_end="NOTPROVIDED", of="1")))
        )
    )
    assert plain.notes == ""


def test_camt_batch_lists_its_payments_and_splits_if_they_add_up():
    payments = build_detail("-30.00", name="A", text="a") + build_detail("-70.00", name="B", text="b")
    (row,) = read_single_statement(build_camt(build_statement(build_entry("-100.00", ref="B1", details=payments))))
    assert row.notes == "2 payments\nA · a · 30.00\nB · b · 70.00"
    assert [(part.amount, part.from_to, part.reference) for part in row.parts] == [
        ("-30", "A", "B1"),
        ("-70", "B", "B1"),
    ]
    (untold,) = read_single_statement(
        build_camt(build_statement(build_entry("-100.00", details=build_detail(name="A", of="-1") * 2)))
    )
    assert (untold.parts, untold.from_to) == ((), "A")


def test_long_camt_batch_notes_are_truncated_with_remark():
    payments = "".join(build_detail("-1.00", name=f"Payee {number}", text="x" * 100) for number in range(200))
    (row,) = read_single_statement(build_camt(build_statement(build_entry("-200.00", details=payments))))
    assert len(row.notes) <= 10_000
    assert row.notes.endswith("more")
    assert len(row.parts) == 200


def test_camt_impossible_date_becomes_last_day_of_month():
    assert (
        str(read_single_statement(build_camt(build_statement(build_entry("1.00", "2026-11-31"))))[0].day)
        == "2026-11-30"
    )


def test_camt_missing_booking_date_falls_back_to_value_or_statement_date():
    assert (
        str(read_single_statement(build_camt(build_statement(build_entry("1.00", "", value_day="2026-01-07"))))[0].day)
        == "2026-01-07"
    )
    assert str(read_single_statement(build_camt(build_statement(build_entry("1.00", ""))))[0].day) == "2026-01-31"


def test_camt_entry_number_is_not_used_as_reference():
    assert (
        read_single_statement(build_camt(build_statement(build_entry("1.00", more="<NtryRef>12</NtryRef>"))))[
            0
        ].reference
        == ""
    )
    assert (
        read_single_statement(build_camt(build_statement(build_entry("1.00", more="<NtryRef>032019-7</NtryRef>"))))[
            0
        ].reference
        == "032019-7"
    )


def test_camt_previous_closing_balance_is_opening_balance_of_next_day():
    balances = bank_file_builders.build_balance("PRCD", "5.00", "2025-12-31") + bank_file_builders.build_balance(
        "CLBD", "6.00", "2026-01-05"
    )
    entry = build_entry("1.00", "2026-01-05")
    content = f"<Document><BkToCstmrStmt><Stmt>{balances}{entry}</Stmt></BkToCstmrStmt></Document>"
    (result,) = read_statements(content.encode()).statements
    assert (str(result.start), str(result.end), result.opening, result.difference) == ("2026-01-01", "2026-01-05", 5, 0)


@pytest.mark.parametrize(
    "bomb",
    [
        b'<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;&b;">]><Document>&c;</Document>',
        b'<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><Document/>',
        b'<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]><Document/>',
    ],
)
def test_xml_with_document_type_is_rejected(bomb):
    with pytest.raises(UnsafeXmlError):
        read_statements(bomb)


def test_camt_entry_with_too_many_elements_is_rejected(monkeypatch):
    monkeypatch.setattr("ledger.bank_statements.parsers.camt.MAX_ENTRY_ELEMENTS", 100)
    with pytest.raises(UnreadableFileError, match="too many elements"):
        read_statements(build_camt(build_statement(build_entry("1.00", details="<x/>" * 200))))


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        (f"<Ntry><a>{'x' * 17_000_000}</a></Ntry>", "too much text"),
        ("<Ntry " + " ".join(f"a{number}='x'" for number in range(200_000)) + "/>", "Unclosed XML tag"),
        ("".join(f"<a{number}/>" for number in range(11_000)), "different elements"),
    ],
    ids=["text", "attributes", "names"],
)  # fmt: skip
def test_memory_heavy_files_are_rejected_early(inside, message):
    with pytest.raises(UnreadableFileError, match=message):
        read_statements(f"<Document><BkToCstmrStmt><Stmt>{inside}</Stmt></BkToCstmrStmt></Document>".encode())


def test_files_with_too_many_statements_are_rejected():
    one = bank_file_builders.build_ofx().replace(b"</STMTRS>", b"</STMTRS><STMTRS></STMTRS><STMTRS></STMTRS>")
    for content in (build_camt(*[build_statement()] * 3), bank_file_builders.build_mt940() * 3, one):
        with pytest.raises(TooManyEntriesError):
            formats.read_statement_file(content, formats.detect_file_kind(content), most=2)


def test_camt_with_too_many_entries_is_rejected():
    content = build_camt(build_statement(*[build_entry("1.00")] * 3))
    with pytest.raises(TooManyEntriesError):
        formats.read_statement_file(content, "camt", most=2)


# ---------------------------------------------------------------------------------- MT940


@pytest.mark.parametrize(
    ("mark", "amount"), [("C", "5"), ("D", "-5"), ("RC", "-5"), ("RD", "5"), ("CR", "5"), ("DR", "-5"), ("RCR", "-5")]
)
def test_mt940_reversed_credit_is_outgoing_and_reversed_debit_incoming(mark, amount):
    (row,) = read_single_statement(bank_file_builders.build_mt940((f"2601150115{mark}5,00NTRFNONREF//B1", "x")))
    assert (row.amount, row.reference) == (amount, "B1")


@pytest.mark.parametrize(
    ("field", "day", "value"),
    [
        ("2601150116", "2026-01-16", "Value date 2026-01-15"),
        ("260115", "2026-01-15", ""),
        ("260115    ", "2026-01-15", ""),
        ("2512310102", "2026-01-02", "Value date 2025-12-31"),
        ("2601021231", "2025-12-31", "Value date 2026-01-02"),
        ("2602300301", "2026-03-01", "Value date 2026-02-28"),
    ],
)
def test_mt940_entry_date_uses_closest_year(field, day, value):
    (row,) = read_single_statement(bank_file_builders.build_mt940((f"{field}C5,00NTRFNONREF", "x")))
    assert (str(row.day), row.notes) == (day, value)


def test_mt940_pages_are_merged_into_one_statement():
    one, other = (
        bank_file_builders.build_mt940(("260115C5,00NTRFX", "a")),
        bank_file_builders.build_mt940(("260115C7,00NTRFX", "b"), closing="C260131EUR112,00"),
    )
    first = one.replace(b":62F:C260131EUR100,00", b":62M:C260131EUR105,00")
    second = other.replace(b":60F:C260101EUR100,00", b":60M:C260131EUR105,00")
    (result,) = read_statements(first + second).statements
    assert (len(result.entries), result.opening, result.closing, result.difference) == (2, 100, 112, 0)


def test_mt940_information_after_closing_balance_is_ignored():
    content = bank_file_builders.build_mt940(("2601150115C5,00NTRFNONREF", "a")).replace(
        b"-\r\n", b":86:Thank you\r\n-\r\n"
    )
    assert read_single_statement(content)[0].description == "a"


def test_mt940_swift_envelope_blocks_are_ignored():
    message = bank_file_builders.build_mt940(("2601150115C5,00NTRFNONREF", "a")).replace(
        b"\r\n-\r\n", b"\r\n-}{5:{CHK:1}}\r\n"
    )
    assert len(read_single_statement(b"{1:F01BANKDEFFAXXX0000000000}{2:I940BANKDEFFXXXXN}{4:\r\n" + message)) == 1


@pytest.mark.parametrize(
    ("information", "from_to", "text", "notes"),
    [
        ("166?00X?20EREF+A?21MREF+M?22SVWZ+Rent?32Initech?33 AG", "Initech AG", "Rent", "End-to-end A\nMandate M"),
        ("166?00GEHALT?20Lohn Mai?21danke?32Peter", "Peter", "Lohn Mai danke", ""),
        ("805?00ENTGELT", "", "ENTGELT", ""),
        ("/EREF/E-1/BENM//NAME/Initech BV/REMI/Factuur 7/ISDT/2026-01-01", "Initech BV", "Factuur 7", "End-to-end E-1"),
        ("Card payment\r\nCoffee bar", "", "Card payment Coffee bar", ""),
    ],
)  # fmt: skip
def test_mt940_descriptions_are_parsed(information, from_to, text, notes):
    (row,) = read_single_statement(bank_file_builders.build_mt940(("2601150115C5,00NTRFNONREF", information)))
    assert (row.from_to, row.description, row.notes) == (from_to, text, notes)


def test_mt942_report_has_pending_entries_and_no_balances():
    file = read_statements(bank_file_builders.build_mt942(("2601150115C5,00NTRFNONREF", "a")))
    (result,) = file.statements
    assert (file.format, result.opening, result.closing, result.final) == ("mt942", None, None, False)
    assert [each.pending for each in result.entries] == [True]


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (b":20:A\n:25:1\n:60F:C260101EUR1,00\n:61:x\n:62F:C260101EUR1,00\n", "Line 4"),
        (b":20:A\n:25:1\n:60F:nothing\n", "Line 3"),
        (b":20:A\n:25:1\n:60F:C261301EUR1,00\n:62F:C260101EUR1,00\n", "Line 3"),
        (b":20:A\n:25:1\n:60F:C260101EUR1,00\n:61:260101C1,00NTRFX\n", "Line 1"),
    ],
)
def test_malformed_mt940_error_names_line(broken, line):
    with pytest.raises(UnreadableFileError, match=f"^{line}:"):
        read_statements(broken)


def test_mt940_with_too_many_entries_is_rejected():
    lines = [":20:A", ":25:1", ":60F:C260101EUR1,00", *[":61:260101C1,00NTRFX"] * 3, ":62F:C260101EUR1,00"]
    with pytest.raises(TooManyEntriesError):
        mt940.read_mt940(iter(lines), most=2)


# ---------------------------------------------------------------------------------- OFX

COFFEE = {
    "TRNTYPE": "DEBIT",
    "DTPOSTED": "20260115",
    "TRNAMT": "-3.50",
    "FITID": "F1",
    "NAME": "Coffee bar",
    "MEMO": "Two",
}


@pytest.mark.parametrize("closed", [False, True])
def test_both_ofx_versions_are_read(closed):
    (result,) = read_statements(bank_file_builders.build_ofx(COFFEE, balance="96.50", closed=closed)).statements
    (movement,) = result.entries
    assert (movement.amount, movement.from_to, movement.description, movement.reference) == (
        "-3.5",
        "Coffee bar",
        "Two",
        "F1",
    )
    assert (result.account_number, result.currency, result.opening, result.closing) == (
        bank_file_builders.IBAN,
        "EUR",
        100,
        Decimal("96.50"),
    )


@pytest.mark.parametrize(
    "posted", ["20260115", "20260115235959", "20260115235959.000[-8:PST]", "20260115000000[+12:NZST]"]
)
def test_ofx_posting_date_uses_its_own_utc_offset(posted):
    assert (
        str(read_single_statement(bank_file_builders.build_ofx(COFFEE | {"DTPOSTED": posted}))[0].day) == "2026-01-15"
    )


def test_ofx_amount_name_and_check_number_are_parsed():
    (row,) = read_single_statement(
        bank_file_builders.build_ofx(
            {"DTPOSTED": "20260115", "TRNAMT": "+1,234.50", "NAME": "A &amp; B", "CHECKNUM": "17"}
        )
    )
    assert (row.amount, row.from_to, row.notes) == (
        "1234.5",
        "A & B",
        "Check 17",
    )


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("-1,050", "-1050"),
        ("2,000", "2000"),
        ("1,234,500", "1234500"),
        ("1.234.500", "1234500"),
        ("1,234,500.75", "1234500.75"),
        ("1.234.500,75", "1234500.75"),
        ("12,50", "12.5"),
        ("0,500", "0.5"),
        ("1050,000", "1050"),
        ("12.500", "12.5"),
    ],
)
def test_thousands_separators_are_distinguished_from_decimal_separators(written, amount):
    assert (
        read_single_statement(bank_file_builders.build_ofx({"DTPOSTED": "20260115", "TRNAMT": written}))[0].amount
        == amount
    )
    assert read_qif_file(["D1/31'26", f"T{written}"])[1][0].amount == amount


def test_ofx_counterparty_account_is_not_used_as_statement_account():
    other = {"BANKACCTTO": "<ACCTID>999</ACCTID></BANKACCTTO><MEMO>To savings"}
    (result,) = read_statements(bank_file_builders.build_ofx(COFFEE | other)).statements
    assert result.account_number == bank_file_builders.IBAN


def test_ofx_foreign_amount_is_converted_at_its_rate():
    foreign = {"CURRENCY": "<CURRATE>0.5<CURSYM>USD</CURRENCY>"}
    (row,) = read_single_statement(bank_file_builders.build_ofx(COFFEE | foreign))
    assert (row.amount, row.currency, row.notes) == (
        "-1.75",
        "EUR",
        "Amount USD -3.5",
    )


def test_truncated_ofx_is_unreadable():
    with pytest.raises(UnreadableFileError, match="is incomplete"):
        ofx.read_ofx(bank_file_builders.build_ofx(COFFEE).decode()[:-9], most=10)


# ---------------------------------------------------------------------------------- QIF


def read_qif_file(*records, kind="Bank", order=None, kept=None):
    lines = bank_file_builders.build_qif(*records, kind=kind).decode().splitlines(keepends=True)
    order, entries = qif.read_qif_entries(
        iter(lines), find_currency=lambda _: "EUR", order=order, default_order=kept, most=100
    )
    return order, [each for account in entries.values() for each in account]


@pytest.mark.parametrize("kind", ["Bank", "CCard", "Cash", "Oth A", "Oth L"])
def test_qif_record_becomes_an_entry(kind):
    order, (result,) = read_qif_file(["D1/31'26", "T-1,234.50", "PInitech", "MRent", "N12", "LRent"], kind=kind)
    assert (order, str(result.day), result.amount) == ("monthFirst", "2026-01-31", "-1234.5")
    assert (result.from_to, result.description, result.notes) == ("Initech", "Rent", "Number 12")


@pytest.mark.parametrize(
    ("text", "order", "day"),
    [("31.12.99", None, "1999-12-31"), ("2/3/26", "dayFirst", "2026-03-02"), ("2/ 3'26", "monthFirst", "2026-02-03")],
)
def test_qif_dates_are_read_in_given_order(text, order, day):
    assert str(read_qif_file([f"D{text}", "T1.00"], order=order)[1][0].day) == day


def test_qif_sections_other_than_transactions_are_skipped():
    text = "!Account\nNMain\nTBank\n^\n!Type:Cat\nNRent\n^\n!Type:Bank\nD1/31/26\nT1.00\n^\n"
    assert (
        len(
            qif.read_qif_entries(
                iter(text.splitlines()), find_currency=lambda _: "EUR", order=None, default_order=None, most=9
            )[1]["Main"]
        )
        == 1
    )


@pytest.mark.parametrize(
    ("records", "kind"), [((["T1.00"],), "Bank"), ((["D1/31/26"],), "Bank"), ((["Dx", "T1"],), "Bank"), ((), "Invst")]
)
def test_malformed_qif_is_unreadable(records, kind):
    with pytest.raises(UnreadableFileError):
        read_qif_file(*records, kind=kind, order="monthFirst")

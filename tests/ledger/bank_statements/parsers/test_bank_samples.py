"""Reading banks' files: what each format says, whatever its version, its encoding and its writer's habits."""

from decimal import Decimal
from pathlib import Path

import pytest

from ledger.bank_statements.parsers import formats, qif
from ledger.bank_statements.parsers.models import UnreadableFileError, UnsafeXmlError
from tests.ledger import bank_file_builders
from tests.ledger.bank_file_builders import build_camt, build_detail, build_entry, build_statement

SAMPLES = Path(__file__).parents[3] / "data" / "statements"


def read_statements(content):
    return formats.read_statement_file(content, formats.detect_file_kind(content), max_entries=1000)


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


def test_camt_versions_are_read_with_and_without_namespace_prefix():
    for version in [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]:
        for prefix in ["", "ns2"]:
            for kind in ["052", "053", "054"]:
                movement = build_entry("-12.50", ref="R1", version=version)
                content = build_camt(build_statement(movement, kind=kind), kind=kind, version=version, prefix=prefix)
                assert read_statements(content).format == f"camt.{kind}", (version, prefix, kind)
                (row,) = read_single_statement(content)
                assert (row.amount, row.from_to, row.description, row.reference, row.pending) == (
                    "-12.5",
                    "Initech GmbH",
                    "Invoice 1042",
                    "R1",
                    False,
                ), (version, prefix, kind)


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


def test_long_camt_batch_notes_are_truncated_with_remark():
    payments = "".join(build_detail("-1.00", name=f"Payee {number}", text="x" * 100) for number in range(200))
    (row,) = read_single_statement(build_camt(build_statement(build_entry("-200.00", details=payments))))
    assert len(row.notes) <= 10_000
    assert row.notes.endswith("more")
    assert len(row.parts) == 200


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


# ---------------------------------------------------------------------------------- MT940


def test_mt940_information_after_closing_balance_is_ignored():
    content = bank_file_builders.build_mt940(("2601150115C5,00NTRFNONREF", "a")).replace(
        b"-\r\n", b":86:Thank you\r\n-\r\n"
    )
    assert read_single_statement(content)[0].description == "a"


# ---------------------------------------------------------------------------------- OFX


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


# ---------------------------------------------------------------------------------- QIF


def read_qif_file(*records, kind="Bank", order=None, kept=None):
    lines = bank_file_builders.build_qif(*records, kind=kind).decode().splitlines(keepends=True)
    order, entries = qif.read_qif_entries(
        iter(lines), find_currency=lambda _: "EUR", order=order, default_order=kept, max_entries=100
    )
    return order, [each for account in entries.values() for each in account]

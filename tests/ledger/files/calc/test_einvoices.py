"""Electronic invoices: official examples, both syntaxes, and totals that do not add up."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.files.calc.einvoice import InvoiceReadError, compute_differences
from ledger.files.calc.invoice_reader import read_invoice_file
from ledger.files.calc.parse_data import build_parse_data, format_exact_decimal
from tests.ledger.files.einvoice_documents import (
    build_blank_pdf,
    build_cii,
    build_facturx,
    build_pdf_with_files,
    build_ubl,
)

EXAMPLES = Path(__file__).parents[3] / "data" / "einvoices"
BUILDERS = {"ubl": build_ubl, "cii": build_cii}


def read_xml(content):
    return read_invoice_file(content, extension="xml")


# What the examples say, read by eye: number, type, issued, due, currency, payable, tax, seller, buyer, IBAN, lines.
OFFICIAL = {
    "CII_business_example_01": (
        "TOSL108", "380", "2013-06-30", "2013-07-20", "NOK", "801.78", "365.28",
        "Salescompany ltd.", "The Buyercompany", "NO9386011117947", 5,
    ),
    "CII_example1": (
        "12115118", "380", "2015-01-09", "2015-01-09", "EUR", "250.33", "20.73",
        "De Koksmaat", "ODIN 59", "NL57RABO0107307510", 20,
    ),
    "CII_example4": (
        "TOSL110", "380", "2013-04-10", "2013-05-10", "DKK", "4675", "675",
        "SellerCompany", "Buyercompany ltd", "DK1212341234123412", 3,
    ),
    "CII_example7": (
        "INVOICE_test_7", "380", "2013-05-13", None, "SEK", "3200", None,
        "The Sellercompany Incorporated", "THe Buyercompany", "SE1212341234123412", 2,
    ),
    "huf_example_cii": (
        "21/001003559/996", "380", "2021-10-05", "2021-11-01", "HUF", "87859", "18679",
        "DKV Euro Service GmbH + Co. KG", "HIL Heeresinstandsetzungslogistik GmbH", "DE26330403100827038100", 3,
    ),
    "sample-discount-price": (
        "test decimal 1", "380", "2018-02-05", "2018-02-28", "EUR", "15.15", "3.03",
        "HEP SPLIT",
        "HEP-OPERATOR DISTRIBUCIJSKOG SUSTAVA D.O.O. ZA DISTRIBUCIJU I OPSKRBU ELEKTRICNE ENERGIJE", "", 1,
    ),
    "ubl-tc434-creditnote1": (
        "018304 / 28865", "381", "2019-09-23", None, "EUR", "100.11", "0",
        "My Supplier Company", "My Customer Company", "BE91000000143476", 1,
    ),
    "ubl-tc434-example1": (
        "12115118", "380", "2015-01-09", "2015-01-09", "EUR", "250.33", "20.73",
        "De Koksmaat", "ODIN 59", "NL57RABO0107307510", 20,
    ),
    "ubl-tc434-example2": (
        "TOSL108", "380", "2013-06-30", "2013-07-20", "NOK", "801.78", "365.28",
        "Salescompany ltd.", "The Buyercompany", "NO9386011117947", 5,
    ),
    "ubl-tc434-example5": (
        "TOSL110", "380", "2013-04-10", "2013-05-10", "DKK", "2337.50", "675",
        "SellerCompany", "Buyercompany ltd", "", 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_example_is_read_and_adds_up(name):
    invoice = read_xml((EXAMPLES / f"{name}.xml").read_bytes())
    number, type_code, issued, due, currency, payable, tax, seller, buyer, iban, lines = OFFICIAL[name]
    assert (invoice.number, invoice.type_code, invoice.currency) == (number, type_code, currency)
    assert (invoice.issue_date, invoice.due_date) == (
        date.fromisoformat(issued),
        date.fromisoformat(due) if due else None,
    )
    assert (invoice.totals.payable, invoice.totals.tax_total) == (Decimal(payable), Decimal(tax) if tax else None)
    assert (invoice.seller.name, invoice.buyer.name, invoice.seller.iban) == (seller, buyer, iban)
    assert len(invoice.lines) == lines
    assert compute_differences(invoice) == []


def test_every_official_example_is_tried():
    assert {path.stem for path in EXAMPLES.glob("*.xml")} == set(OFFICIAL)


def test_vat_ids_and_trading_names_are_read():
    invoice = read_xml((EXAMPLES / "ubl-tc434-example5.xml").read_bytes())
    assert (invoice.seller.vat_id, invoice.seller.trading_name) == ("NL16356706", "SelCo")
    assert (invoice.buyer.vat_id, invoice.buyer.iban) == ("DK16356607", "DK1212341234123412")
    assert invoice.payment_reference == "Payref1"


@pytest.mark.parametrize(
    ("ubl", "cii"), [("ubl-tc434-example1", "CII_example1"), ("ubl-tc434-example2", "CII_business_example_01")]
)
def test_both_syntaxes_of_an_official_example_say_the_same(ubl, cii):
    first, second = (read_xml((EXAMPLES / f"{name}.xml").read_bytes()) for name in (ubl, cii))
    data, other_data = build_parse_data(first), build_parse_data(second)
    lines, other_lines = data.pop("lines"), other_data.pop("lines")
    assert data == other_data
    for name in ("amount", "taxPercent", "unitPrice"):  # the examples' texts and a quantity differ
        assert [line[name] for line in lines] == [line[name] for line in other_lines]


amounts = st.decimals(Decimal("-9999.99"), Decimal("99999.99"), places=2)
positive_amounts = st.decimals(Decimal("0.01"), Decimal("999.99"), places=2)
rates = st.sampled_from(["0", "5.5", "7", "19", "20", "21"])
invoices = st.fixed_dictionaries(
    {
        "lines": st.lists(st.tuples(st.just("Work"), st.just("1"), amounts.map(str), rates), min_size=1, max_size=6),
        "adjustments": st.lists(
            st.tuples(st.sampled_from(["allowance", "charge"]), positive_amounts.map(str), rates), max_size=3
        ),
        "prepaid": positive_amounts.map(str),
        "rounding": st.sampled_from(["0.00", "-0.02", "0.01"]),
        "type": st.sampled_from(["380", "381", "384", "389"]),
        "due": st.lists(st.dates(date(2026, 1, 1), date(2027, 1, 1)), max_size=3),
    }
)


@given(invoices)
def test_any_invoice_reads_alike_in_both_syntaxes_and_adds_up(description):
    first, second = (read_xml(build(**description)) for build in BUILDERS.values())
    assert first == second
    assert compute_differences(first) == []
    assert first.due_date == max(description["due"], default=None)
    assert first.is_credit_note == (description["type"] == "381")


@pytest.mark.parametrize("syntax", BUILDERS)
@pytest.mark.parametrize(
    ("totals", "differences"),
    [
        ({"lines": "100.01"}, [("lineTotal", "100.01", "100.00"), ("taxBase", "100.00", "100.01")]),
        ({"base": "90.00"}, [("taxBase", "90.00", "100.00"), ("totalWithTax", "119.00", "109.00")]),
        ({"tax": "19.01"}, [("taxTotal", "19.01", "19.00"), ("totalWithTax", "119.00", "119.01")]),
        ({"gross": "120.00"}, [("totalWithTax", "120.00", "119.00"), ("payable", "119.00", "120.00")]),
        ({"payable": "118.00"}, [("payable", "118.00", "119.00")]),
        ({"allowances": "5.00"}, [("allowanceTotal", "5.00", "0.00"), ("taxBase", "100.00", "95.00")]),
        ({"charges": "5.00"}, [("chargeTotal", "5.00", "0.00"), ("taxBase", "100.00", "105.00")]),
        ({"taxes": {"19": "18.99"}}, [("taxAmount", "18.99", "19.00"), ("taxTotal", "19.00", "18.99")]),
        (
            {"bases": {"19": "101.00"}},
            [("taxableAmount", "101.00", "100.00"), ("taxAmount", "19.00", "19.19")],
        ),
    ],
    ids=lambda value: "" if isinstance(value, list) else next(iter(value)),
)
def test_total_that_does_not_add_up_is_reported_and_stored_as_stated(syntax, totals, differences):
    data = build_parse_data(read_xml(BUILDERS[syntax](totals=totals)))
    assert [(each["code"], each["stated"], each["computed"]) for each in data["differences"]] == differences
    assert data["amount"]["value"] == totals.get("payable", "119.00")


@pytest.mark.parametrize("syntax", BUILDERS)
@pytest.mark.parametrize(
    ("currency", "decimals", "line", "payable"),
    [("JPY", 0, "1005", "1196"), ("KWD", 3, "10.125", "12.049"), ("EUR", 2, "10.10", "12.02")],
)
def test_amounts_have_the_decimals_of_their_currency(syntax, currency, decimals, line, payable):
    content = BUILDERS[syntax](currency=currency, decimals=decimals, lines=[("Work", "1", line, "19")])
    invoice = read_xml(content)
    assert (invoice.currency, build_parse_data(invoice)["amount"]["value"]) == (currency, payable)
    assert compute_differences(invoice) == []


def test_profile_without_lines_is_checked_as_far_as_it_goes():
    content = build_cii(lines=[])
    for name in (
        "LineTotalAmount",
        "ChargeTotalAmount",
        "AllowanceTotalAmount",
        "RoundingAmount",
        "TotalPrepaidAmount",
    ):
        content = content.replace(f"<ram:{name}>0</ram:{name}>".encode(), b"").replace(
            f"<ram:{name}>0.00</ram:{name}>".encode(), b""
        )
    content = content.replace(
        b"<ram:GrandTotalAmount>0</ram:GrandTotalAmount>", b"<ram:GrandTotalAmount>119</ram:GrandTotalAmount>"
    )
    content = content.replace(
        b"<ram:DuePayableAmount>0.00</ram:DuePayableAmount>", b"<ram:DuePayableAmount>99</ram:DuePayableAmount>"
    )
    invoice = read_xml(content)
    assert (invoice.totals.line_total, invoice.totals.payable) == (None, Decimal(99))
    assert [each.code for each in compute_differences(invoice)] == ["totalWithTax"]


@pytest.mark.parametrize("text", ["20260230", "2026-02-30", "tomorrow", "2026-3-1", "0000-00-00"])
def test_impossible_day_is_an_error(text):
    with pytest.raises(InvoiceReadError, match="invalid_invoice"):
        read_xml(build_ubl().replace(b"2026-03-02", text.encode()))


@pytest.mark.parametrize("day", ["2026-03-02Z", "2026-03-02+02:00"])
def test_day_with_a_time_zone_is_the_day_as_written(day):
    assert read_xml(build_ubl().replace(b"2026-03-02", day.encode())).issue_date == date(2026, 3, 2)


def test_facturx_pdf_is_read_as_its_xml():
    xml = (EXAMPLES / "CII_example1.xml").read_bytes()
    assert read_invoice_file(build_facturx(xml), extension="pdf") == read_xml(xml)


def test_uncompressed_attachment_is_read():
    assert read_invoice_file(build_pdf_with_files(xrechnung=build_ubl()), extension="pdf").number == "NW-2026-17"


def test_the_later_revision_of_an_embedded_file_counts():
    pdf = build_facturx(build_cii(number="OLD"))
    number = pdf[: pdf.index(b"/EmbeddedFile\n")].rpartition(b" 0 obj")[0].rpartition(b"\n")[2].decode()
    xml = build_cii(number="NEW")
    revision = (
        f"{number} 0 obj\n<< /Type /EmbeddedFile /Length {len(xml)} >>\nstream\n".encode()
        + xml
        + b"\nendstream\nendobj\n%%EOF"
    )
    assert read_invoice_file(pdf + revision, extension="pdf").number == "NEW"


@pytest.mark.parametrize("pdf", [build_blank_pdf(), build_pdf_with_files(), b"%PDF-1.7\nnothing\n%%EOF"])
def test_pdf_without_xml_is_not_guessed_at(pdf):
    assert read_invoice_file(pdf, extension="pdf") is None


@pytest.mark.parametrize(
    ("text", "decimals", "formatted"),
    [("1E+3", 2, "1000.00"), ("0.10", 0, "0.1"), ("-5", 3, "-5.000"), ("1.23456", 2, "1.23456"), ("-0.0", 0, "0")],
)
def test_decimals_are_written_out_exactly(text, decimals, formatted):
    assert format_exact_decimal(Decimal(text), decimals) == formatted

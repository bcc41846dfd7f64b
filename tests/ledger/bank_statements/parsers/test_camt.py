"""CAMT, element by element: messages, statements and their balances; without a database."""

from datetime import date
from decimal import Decimal

import pytest

from ledger.bank_statements.parsers import camt
from ledger.bank_statements.parsers.models import (
    NotAStatementError,
    TooManyEntriesError,
    UnreadableFileError,
    UnsafeXmlError,
)
from tests.ledger.bank_file_builders import build_balance, build_entry, build_tag

ENTRY = build_entry("-1.00", text="Rent")
CUT_MESSAGE = "The file is incomplete and ends here. Export or download it again."
BROKEN_MESSAGE = "The XML is not well-formed here. Export the file again."
FIRST, LAST = date(2026, 1, 1), date(2026, 1, 31)


def build_document(*statements, message="BkToCstmrStmt"):
    return f"<Document><{message}>{''.join(statements)}</{message}></Document>"


def build_named_statement(*inside, name="Stmt"):
    return build_tag(name, *inside)


def build_account(currency="EUR", **numbers):
    return build_tag(
        "Acct",
        build_tag("Id", numbers.get("number", build_tag("IBAN", "DE1"))),
        build_tag("Ccy", currency) if currency else "",
    )


def read_camt(text, max_entries=100, **more):
    return camt.read_camt(text.encode(), max_entries=max_entries, **more)


def read_single_statement(*inside):
    _, (result,) = read_camt(build_document(build_named_statement(*inside)))
    return result


def get_error(text, **more):
    with pytest.raises(UnreadableFileError) as answer:
        read_camt(text, **more)
    return str(answer.value)


# ---------------------------------------------------------------------------------------------- the file


@pytest.mark.parametrize(
    ("message", "name", "format_"),
    [
        ("BkToCstmrAcctRpt", "Rpt", "camt.052"),
        ("BkToCstmrStmt", "Stmt", "camt.053"),
        ("BkToCstmrDbtCdtNtfctn", "Ntfctn", "camt.054"),
    ],
)
def test_camt_message_type_determines_format_and_finality(message, name, format_):
    result, statements = read_camt(
        build_document(build_named_statement(ENTRY, name=name), build_named_statement(name=name), message=message)
    )
    assert result == format_
    assert [len(each.entries) for each in statements] == [1, 0]
    assert {each.final for each in statements} == {format_ == "camt.053"}


def test_camt_statements_at_other_positions_are_ignored():
    inner = build_named_statement(ENTRY, build_tag("Other", build_named_statement(ENTRY)))
    result = read_camt(build_document(build_tag("GrpHdr", build_named_statement(ENTRY)), inner))[1]
    assert [len(each.entries) for each in result] == [1]
    assert len(read_camt(f"<a><b>{build_document(build_named_statement(ENTRY))}</b></a>")[1]) == 1


def test_other_xml_is_not_a_statement():
    with pytest.raises(NotAStatementError):
        read_camt("<Document><pain><Stmt/></pain></Document>")
    with pytest.raises(UnsafeXmlError):
        read_camt("<!DOCTYPE a><Document/>")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", f"Line 1: {CUT_MESSAGE}"),
        ("<Document>\n<a", f"Line 2: {CUT_MESSAGE}"),
        ("<Document>\n<a>", f"Line 2: {CUT_MESSAGE}"),
        ("<Document>\n<![CDATA[x", f"Line 2: {CUT_MESSAGE}"),
        ("<Document>\n<a></b>", f"Line 2: {BROKEN_MESSAGE}"),
        ("<Document>\n& </Document>", f"Line 2: {BROKEN_MESSAGE}"),
        ("<?xml version='1.0' encoding='klingon'?><a/>", None),
    ],
)
def test_truncated_camt_is_distinguished_from_malformed_camt(text, said):
    error = get_error(text)
    assert error == said or (said is None and error.startswith("Line 1: "))


def test_camt_error_names_unknown_encoding():
    assert get_error("<a/>", encoding="klingon") == "Line 1: Unsupported encoding: unknown encoding: klingon."


def test_camt_reader_reports_progress():
    heard = []
    text = build_document(build_named_statement(ENTRY)) + " " * 150_000
    read_camt(text, on_progress=heard.append)
    assert heard == [0, 65_536, 131_072, len(text)]


@pytest.mark.parametrize("size", [1_000_000, 1_300_000])
def test_camt_tag_is_limited_to_one_mebibyte(size):
    text = build_document(build_named_statement(f"\n<Ntry a='{'x' * size}'>{ENTRY[6:]}"))
    if size < 1024 * 1024:
        assert len(read_camt(text)[1][0].entries) == 1
    else:
        assert get_error(text) == "Line 2: Unclosed XML tag."


def test_camt_nesting_is_limited_to_64_levels():
    with pytest.raises(NotAStatementError):
        read_camt("<a>" * 64 + "</a>" * 64)
    assert get_error("<a>" * 64 + "\n<a></a>" + "</a>" * 64) == "Line 2: Nested deeper than 64 levels."


def test_camt_number_of_element_names_is_limited(monkeypatch):
    monkeypatch.setattr(camt, "MAX_NAMES", 20)
    many = "".join(f"<a{number}/>" for number in range(19)) * 2
    with pytest.raises(NotAStatementError):
        read_camt(f"<x>\n{many}</x>")
    assert get_error(f"<x>\n{many}<b/></x>") == "Line 2: Too many different elements."


def test_camt_entry_elements_and_text_are_limited(monkeypatch):
    text = build_document(build_named_statement("\n", ENTRY, "\n", ENTRY))
    elements = ENTRY.count("<") // 2 - 1
    monkeypatch.setattr(camt, "MAX_ENTRY_ELEMENTS", elements)
    assert len(read_camt(text)[1][0].entries) == 2
    monkeypatch.setattr(camt, "MAX_ENTRY_ELEMENTS", elements - 1)
    assert get_error(text) == "Line 2: The entry has too many elements."
    monkeypatch.undo()
    letters = len("".join(part.partition(">")[2] for part in ENTRY.split("<")))
    monkeypatch.setattr(camt, "MAX_ENTRY_CHARACTERS", letters)
    assert len(read_camt(text)[1][0].entries) == 2
    monkeypatch.setattr(camt, "MAX_ENTRY_CHARACTERS", letters - 1)
    assert get_error(text) == "Line 2: The entry has too much text."


def test_camt_elements_outside_entries_are_limited(monkeypatch):
    monkeypatch.setattr("ledger.bank_statements.parsers.models.MAX_OUTER_TAGS", 5)
    monkeypatch.setattr("ledger.bank_statements.parsers.models.MAX_TAGS_PER_ENTRY", 0)
    read_camt(
        build_document(build_named_statement(ENTRY, ENTRY))
    )  # the document, its message, a statement, and what is in it
    assert get_error("\n" + build_document(build_named_statement(ENTRY, ENTRY, ENTRY))) == "Line 2: Too many elements."


def test_camt_entries_statements_and_payments_are_limited():
    two = build_tag("NtryDtls", "<TxDtls/>" * 2) * 2
    head = "<Amt>1</Amt><CdtDbtInd>CRDT</CdtDbtInd><BookgDt><Dt>2026-01-01</Dt></BookgDt>"
    batch, larger = (build_tag("Ntry", head, two, more) for more in ("", build_tag("NtryDtls", "<TxDtls/>")))
    assert (
        len(read_camt(build_document(build_named_statement(ENTRY, ENTRY), build_named_statement()), max_entries=2)[1])
        == 2
    )
    assert (
        len(read_camt(build_document(build_named_statement(batch)), max_entries=2)[1]) == 1
    )  # payments may be twice as many
    entries = (build_named_statement(ENTRY * 3), build_named_statement(ENTRY * 2) + build_named_statement(ENTRY))
    for text in (
        *entries,
        build_named_statement() * 3,
        build_named_statement(batch * 2),
        build_named_statement(larger),
    ):
        with pytest.raises(TooManyEntriesError):
            read_camt(build_document(text), max_entries=2)


def test_camt_unused_elements_are_skipped_with_their_children():
    hidden = build_tag(
        "Chrgs", build_tag("Amt", "9"), build_tag("Chrgs", build_tag("BookgDt", "x")), build_tag("CdtDbtInd", "CRDT")
    )
    single_statement = read_single_statement(build_account(), ENTRY.replace("<Amt", f"{hidden}<Amt", 1))
    assert [each.amount for each in single_statement.entries] == ["-1"]


def test_camt_unused_elements_do_not_count_towards_entry_size(monkeypatch):
    monkeypatch.setattr(camt, "MAX_ENTRY_ELEMENTS", ENTRY.count("<") // 2 - 1)
    hidden = build_tag("Chrgs", build_tag("Amt", "9"))
    assert len(read_single_statement(build_account(), ENTRY.replace("<Amt", f"{hidden}<Amt", 1)).entries) == 1
    inner = hidden.replace("Chrgs", "Other")
    assert get_error(build_document(build_named_statement(ENTRY.replace("<Amt", f"{inner}<Amt", 1)))).endswith(
        "too many elements."
    )


# ---------------------------------------------------------------------------------------------- a statement


def test_camt_statement_has_account_id_period_and_balances():
    period = build_tag("FrToDt", build_tag("FrDtTm", "2026-01-01T00:00:00"), build_tag("ToDtTm", "2026-01-31T23:59:59"))
    single_statement = read_single_statement(
        build_tag("Id", " 2026 \n 1 "), build_tag("CreDtTm", "2026-02-03T10:00:00"), period, build_account(),
        build_balance("OPBD", "5", "2025-12-31"), build_balance("CLBD", "-4", "2026-02-01"), ENTRY,
    )  # fmt: skip
    assert (single_statement.account_number, single_statement.currency, single_statement.statement_id) == (
        "DE1",
        "EUR",
        "2026 1",
    )
    assert (single_statement.start, single_statement.end, single_statement.opening, single_statement.closing) == (
        FIRST,
        LAST,
        5,
        -4,
    )


@pytest.mark.parametrize(
    ("number", "found"),
    [
        (build_tag("IBAN", "DE1") + build_tag("Othr", build_tag("Id", "4711")), "DE1"),
        (build_tag("Othr", build_tag("Id", "4711")) + build_tag("PrtryAcct", build_tag("Id", "9")), "4711"),
        (build_tag("PrtryAcct", build_tag("Id", "9")), "9"),
        (build_tag("IBAN", "9" * 70), "9" * 64),
        ("", ""),
    ],
)
def test_camt_account_is_iban_or_else_other_account_number(number, found):
    assert read_single_statement(build_account(number=number)).account_number == found


@pytest.mark.parametrize(
    ("inside", "start", "end"),
    [
        (build_tag("FrToDt", build_tag("FrDt", "2026-01-01"), build_tag("ToDt", "2026-01-31")), FIRST, LAST),
        (build_balance("OPBD", "1", "2026-01-01") + build_balance("CLBD", "1", "2026-01-31"), FIRST, LAST),
        (
            build_balance("PRCD", "1", "2025-12-31") + build_balance("CLBD", "1", "2026-01-31"),
            FIRST,
            LAST,
        ),  # of the day before
        (build_tag("FrToDt", build_tag("FrDt", "2026-01-01")) + build_balance("CLBD", "1", "2026-01-31"), FIRST, LAST),
        (build_tag("CreDtTm", "2026-01-31T12:00:00"), None, LAST),
        (build_balance("PRCD", "1", "soon"), None, None),
        ("", None, None),
    ],
)
def test_camt_period_comes_from_dates_balances_or_creation_time(inside, start, end):
    single_statement = read_single_statement(build_account(), inside)
    assert (single_statement.start, single_statement.end) == (start, end)


@pytest.mark.parametrize(
    ("balances", "opening", "closing"),
    [
        (["OPBD", "CLBD"], 1, 2),
        (["PRCD", "CLBD"], 1, 2),
        (["PRCD", "OPBD", "CLBD"], 2, 3),  # its own goes before that of the day before
        (["ITBD", "ITBD"], 1, 2),
        (["ITBD"], None, 1),  # one alone is how much there is
        (["ITBD", "ITBD", "ITBD"], 1, 3),
        (["ITBD", "CLBD", "ITBD"], 1, 2),
        (["OPBD", "OPBD"], 1, None),
        (["CLAV", "FWAV"], None, None),  # what a credit line leaves
        ([], None, None),
    ],
)
def test_camt_opening_and_closing_are_the_booked_balances(balances, opening, closing):
    rows = [build_balance(kind, str(number), "2026-01-01") for number, kind in enumerate(balances, 1)]
    single_statement = read_single_statement(build_account(), *rows)
    assert (single_statement.opening, single_statement.closing) == (opening, closing)


@pytest.mark.parametrize(
    ("account_currency", "balances", "currency", "opening"),
    [
        ("EUR", [("USD", 1), ("EUR", 2)], "EUR", 2),  # others can be compared with nothing
        ("", [("USD", 1), ("EUR", 2)], "USD", 1),
        ("", [], "EUR", None),  # that of its entries
    ],
)
def test_camt_currency_comes_from_account_balances_or_entries(account_currency, balances, currency, opening):
    rows = [build_balance("OPBD", str(value), "2026-01-01", each) for each, value in balances]
    single_statement = read_single_statement(build_account(account_currency), *rows, ENTRY)
    assert (single_statement.currency, single_statement.opening) == (currency, opening)


def test_camt_balance_without_currency_uses_statement_currency():
    bare = build_balance("OPBD", "7", "2026-01-01").replace(' Ccy="EUR"', "")
    assert read_single_statement(build_account(), bare).opening == 7
    assert (
        read_single_statement(build_account(""), bare, build_balance("CLBD", "8", "2026-01-01", "USD")).currency
        == "USD"
    )
    assert read_single_statement(build_account(""), build_tag("Bal", build_tag("Tp", "")), ENTRY).currency == "EUR"
    assert read_single_statement(build_account(""), build_tag("Bal", build_tag("Tp", ""))).currency == "", (
        "nobody tells one"
    )


def test_camt_malformed_balance_is_rejected():
    with pytest.raises(UnreadableFileError, match=r"^“x” is not a valid amount\.$") as answer:
        read_single_statement(build_account(), build_balance("OPBD", "7", "2026-01-01").replace(">7<", ">x<"))
    assert answer.value.line == 0, "it has none"


def test_camt_number_of_balances_is_limited(monkeypatch):
    monkeypatch.setattr(camt, "MAX_BALANCES", 1)
    single_statement = read_single_statement(
        build_account(), build_balance("OPBD", "1", "2026-01-01"), build_balance("CLBD", "2", "2026-01-31")
    )
    assert (single_statement.opening, single_statement.closing) == (Decimal(1), None)


# ---------------------------------------------------------------------------------------------- entries without a day


def test_camt_entry_without_date_uses_last_day_of_statement():
    part = build_tag("TxDtls", build_tag("Amt", "0.50", Ccy="EUR"))
    bare = build_tag(
        "Ntry", build_tag("Amt", "1", Ccy="EUR"), build_tag("CdtDbtInd", "CRDT"), build_tag("NtryDtls", part * 2)
    )
    (result, dated) = read_single_statement(
        build_account(), build_tag("FrToDt", build_tag("ToDt", "2026-01-31")), bare, ENTRY
    ).entries
    assert (result.day, dated.day) == (LAST, date(2026, 1, 15))
    assert [each.day for each in result.parts] == [LAST, LAST]
    (made,) = read_single_statement(build_account(), build_tag("CreDtTm", "2026-01-31T12:00:00"), bare).entries
    assert made.day == LAST
    assert get_error("\n" + build_document(build_named_statement("\n", bare))) == "Line 3: Ntry has no BookgDt."

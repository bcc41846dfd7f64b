"""Entries of CAMT files, element by element; without a database."""

from datetime import date

import pytest

from ledger.bank_statements.parsers import camt
from ledger.bank_statements.parsers.models import MAX_TEXT_LENGTH, UnreadableFileError
from tests.ledger.bank_file_builders import build_amount, build_detail, build_entry, build_tag

DAY = build_tag("BookgDt", build_tag("Dt", "2026-01-15"))
ACCOUNT = build_tag("Acct", build_tag("Id", build_tag("IBAN", "DE1")), build_tag("Ccy", "EUR"))


def read_entries(*inside, account=ACCOUNT, kind="BkToCstmrStmt", name="Stmt"):
    text = f"<Document><{kind}><{name}>{account}\n{''.join(inside)}</{name}></{kind}></Document>"
    return camt.read_camt(text.encode(), max_entries=100)[1][0].entries


def read_single_entry(*inside, value="1.00", sign="DBIT", day=DAY, **more):
    (entry,) = read_entries(build_tag("Ntry", build_amount(value), build_tag("CdtDbtInd", sign), day, *inside), **more)
    return entry


def get_error(*inside):
    with pytest.raises(UnreadableFileError) as why:
        read_entries(*inside)
    return str(why.value)


def build_transaction_details(*inside):
    return build_tag("NtryDtls", build_tag("TxDtls", *inside))


def build_wrapped_party(side, name, *, wrapped=False):
    inner = build_tag("Nm", name)
    return build_tag(side, build_tag("Pty", inner) if wrapped else inner)


# ---------------------------------------------------------------------------------------------- amount and day


@pytest.mark.parametrize(("sign", "value"), [("CRDT", "1"), ("DBIT", "-1")])
def test_camt_sign_comes_from_indicator_and_reversal_keeps_it(sign, value):
    assert (
        read_single_entry(sign=sign).amount
        == read_single_entry(build_tag("RvslInd", "true"), sign=sign).amount
        == value
    )
    assert (
        read_single_entry().currency,
        read_single_entry().line,
        read_single_entry().reference,
        read_single_entry().notes,
    ) == ("EUR", 2, "", "")


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (build_tag("CdtDbtInd", "CRDT") + DAY, "Ntry has no Amt, or its CdtDbtInd is neither CRDT nor DBIT."),
        (build_amount("1") + DAY, "Ntry has no Amt, or its CdtDbtInd is neither CRDT nor DBIT."),
        (
            build_amount("1") + build_tag("CdtDbtInd", "X") + DAY,
            "Ntry has no Amt, or its CdtDbtInd is neither CRDT nor DBIT.",
        ),
        (build_tag("Amt", "x") + build_tag("CdtDbtInd", "CRDT") + DAY, "“x” is not a valid amount."),
        (
            build_amount("1") + build_tag("CdtDbtInd", "CRDT") + build_tag("BookgDt", build_tag("Dt", "x" * 50)),
            f"{'x' * 40} is not a valid date.",
        ),
        (
            build_amount("1") + build_tag("CdtDbtInd", "CRDT") + DAY + build_tag("ValDt", build_tag("DtTm", "soon")),
            "soon is not a valid date.",
        ),
    ],
)
def test_malformed_camt_entry_error_names_line(inside, said):
    assert get_error("\n", build_tag("Ntry", inside)) == f"Line 3: {said}"


@pytest.mark.parametrize(
    ("booked", "valued", "day", "notes"),
    [
        (build_tag("Dt", "2026-01-15"), build_tag("Dt", "2026-01-15"), "2026-01-15", ""),
        (build_tag("Dt", "2026-01-15"), build_tag("Dt", "2026-01-20"), "2026-01-15", "Value date 2026-01-20"),
        (build_tag("DtTm", "2026-01-15T23:59:59-08:00"), "", "2026-01-15", ""),
        ("", build_tag("Dt", "2026-01-20"), "2026-01-20", ""),
    ],
)
def test_camt_entry_uses_booking_date_and_notes_other_value_date(booked, valued, day, notes):
    single_entry = read_single_entry(day=build_tag("BookgDt", booked) + build_tag("ValDt", valued))
    assert (str(single_entry.day), single_entry.notes) == (day, notes)


@pytest.mark.parametrize(
    ("status", "kind", "pending"),
    [
        (build_tag("Sts", "BOOK"), "BkToCstmrAcctRpt", False),
        (build_tag("Sts", build_tag("Cd", "BOOK")), "BkToCstmrAcctRpt", False),
        (build_tag("Sts", "PDNG"), "BkToCstmrStmt", True),
        (build_tag("Sts", build_tag("Cd", "INFO")), "BkToCstmrStmt", True),
        ("", "BkToCstmrStmt", False),
        ("", "BkToCstmrAcctRpt", True),
    ],
)
def test_camt_entry_is_pending_by_status_or_by_report_type(status, kind, pending):
    name = {"BkToCstmrStmt": "Stmt", "BkToCstmrAcctRpt": "Rpt"}[kind]
    assert read_single_entry(status, kind=kind, name=name).pending is pending


@pytest.mark.parametrize(
    ("inside", "reference"),
    [
        (build_tag("AcctSvcrRef", "B-1") + build_tag("NtryRef", "N-1"), "B-1"),
        (build_tag("AcctSvcrRef", "NOTPROVIDED") + build_tag("NtryRef", "N-1"), "N-1"),
        (build_tag("AcctSvcrRef", "NONREF") + build_tag("NtryRef", "NOT PROVIDED"), ""),
        (build_tag("NtryRef", "12345"), ""),  # its place in the file
        (build_tag("NtryRef", "123456"), "123456"),
        (build_tag("NtryRef", "A1"), "A1"),
        ("", ""),
    ],
)
def test_camt_reference_is_the_bank_reference_not_entry_number(inside, reference):
    assert read_single_entry(inside).reference == reference


# ---------------------------------------------------------------------------------------------- currencies


def build_foreign_entry(*inside):
    return build_tag("Ntry", build_amount("8", "USD"), build_tag("CdtDbtInd", "DBIT"), DAY, *inside)


@pytest.mark.parametrize("name", ["TxAmt", "CntrValAmt", "InstdAmt", "AnncdPstngAmt"])
@pytest.mark.parametrize("position", ["entry", "payment"])
def test_camt_foreign_amount_is_converted_if_bank_reports_it(name, position):
    paid_in = "TxAmt" if name == "InstdAmt" else "InstdAmt"
    details = build_tag("AmtDtls", build_tag(paid_in, build_amount("8", "USD")), build_tag(name, build_amount("7.5")))
    (entry,) = read_entries(build_foreign_entry(details if position == "entry" else build_transaction_details(details)))
    assert (entry.amount, entry.currency, entry.notes) == ("-7.5", "EUR", "Amount USD -8")


def test_camt_entry_amount_details_take_precedence_over_payment_details():
    def within(value):
        return build_tag("AmtDtls", build_tag("TxAmt", build_amount(value)))

    (entry,) = read_entries(build_foreign_entry(within("1"), build_transaction_details(within("2"), build_amount("3"))))
    assert entry.amount == "-1"
    (entry,) = read_entries(build_foreign_entry(build_transaction_details(within("2"), build_amount("3"))))
    assert entry.amount == "-2"
    (entry,) = read_entries(build_foreign_entry(build_transaction_details(build_amount("3"))))
    assert entry.amount == "-3"


def test_camt_unconverted_foreign_amount_keeps_its_currency():
    (entry,) = read_entries(
        build_foreign_entry(
            build_transaction_details(build_amount("8", "USD")),
            build_tag("AmtDtls", build_tag("TxAmt", build_amount("8", "USD"))),
        )
    )
    assert (entry.amount, entry.currency, entry.notes) == ("-8", "USD", "")
    (bare,) = read_entries(build_tag("Ntry", build_tag("Amt", "8"), build_tag("CdtDbtInd", "DBIT"), DAY))
    assert bare.currency == "EUR", "an amount without a currency is in the account's"
    details = build_tag("AmtDtls", build_tag("TxAmt", build_amount("7.5")))
    (first,) = read_entries(build_foreign_entry(details), account="")
    assert (first.amount, first.currency) == ("-8", "USD"), "nobody says what the statement is in"
    (alone,) = read_entries(build_foreign_entry())
    assert (alone.amount, alone.currency, alone.notes) == ("-8", "USD", "")


@pytest.mark.parametrize(
    "inside",
    [
        build_foreign_entry(build_tag("AmtDtls", build_tag("TxAmt", build_amount("7.5").replace("7.5", "x")))),
        build_tag("Ntry", build_amount("-3"), build_tag("CdtDbtInd", "DBIT"), DAY,
            build_tag("NtryDtls", build_detail("-1").replace(">1<", ">x<"), build_detail("-2"))),
    ],
)  # fmt: skip
def test_malformed_camt_amount_error_names_line(inside):
    assert get_error("\n", inside) == "Line 3: “x” is not a valid amount."


def test_camt_amount_in_own_currency_ignores_amount_details():
    assert read_single_entry(build_tag("AmtDtls", build_tag("TxAmt", build_amount("7.5")))).amount == "-1"


# ---------------------------------------------------------------------------------------------- who and what for


@pytest.mark.parametrize(
    ("sign", "reversal", "name"),
    [
        ("DBIT", "", "creditor"),  # money goes to them
        ("CRDT", "", "debtor"),  # money comes from them
        ("DBIT", "true", "debtor"),  # what came from them goes back
        ("CRDT", "1", "creditor"),
        ("CRDT", "false", "debtor"),
    ],
)
def test_camt_counterparty_is_debtor_or_creditor_by_direction(sign, reversal, name):
    parties = build_tag("RltdPties", build_wrapped_party("Dbtr", "debtor"), build_wrapped_party("Cdtr", "creditor"))
    back = build_tag("RvslInd", reversal) if reversal else ""
    assert read_single_entry(back, build_transaction_details(parties), sign=sign).from_to == name


@pytest.mark.parametrize(
    ("inside", "name"),
    [
        (build_wrapped_party("Cdtr", " A \n B "), "A B"),
        (build_wrapped_party("Cdtr", "A", wrapped=True), "A"),
        (build_wrapped_party("UltmtCdtr", "U"), "U"),
        (build_wrapped_party("UltmtCdtr", "U", wrapped=True) + build_wrapped_party("Cdtr", "A", wrapped=True), "A"),
        (build_wrapped_party("Dbtr", "us"), ""),
        ("", ""),
    ],
)
def test_camt_party_name_is_found_directly_or_nested_and_nearest_wins(inside, name):
    assert read_single_entry(build_transaction_details(build_tag("RltdPties", inside))).from_to == name
    ours = inside.replace("Cdtr", "\0").replace("Dbtr", "Cdtr").replace("\0", "Dbtr")
    assert read_single_entry(build_transaction_details(build_tag("RltdPties", ours)), sign="CRDT").from_to == name


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (build_tag("RmtInf", build_tag("Ustrd", "one"), build_tag("Ustrd", " two ")) + build_tag("AddtlTxInf", "x"),
         "one two"),
        (build_tag("RmtInf", build_tag("Ustrd", "free"), build_tag("Strd", build_tag("AddtlRmtInf", "y"))), "free"),
        (build_tag("RmtInf",
                   build_tag("Strd", build_tag("CdtrRefInf", build_tag("Ref", "RF1")), build_tag("AddtlRmtInf", "y"))),
         "RF1"),
        (build_tag("RmtInf",
                   build_tag("Strd", build_tag("AddtlRmtInf", "y"), build_tag("RfrdDocInf", build_tag("Nb", "7")))),
         "y"),
        (build_tag("RmtInf", build_tag("Strd", build_tag("RfrdDocInf", build_tag("Nb", "7"))), "<Strd/>",
                   build_tag("Strd", build_tag("AddtlRmtInf", "y"))),
         "7 y"),
        (build_tag("AddtlTxInf", " more \n said "), "more said"),
        ("", "of the entry"),
    ],
)  # fmt: skip
def test_camt_description_is_remittance_text_reference_or_bank_info(inside, text):
    assert (
        read_single_entry(build_transaction_details(inside), build_tag("AddtlNtryInf", " of the \n entry ")).description
        == text
    )


def test_camt_entry_without_payments_has_no_counterparty():
    single_entry = read_single_entry(build_tag("AddtlNtryInf", "Fees"))
    assert (single_entry.from_to, single_entry.description, single_entry.notes, single_entry.parts) == (
        "",
        "Fees",
        "",
        (),
    )


@pytest.mark.parametrize(
    ("refs", "notes"),
    [
        (build_tag("EndToEndId", " E 1 ") + build_tag("MndtId", " M\n1 "), "End-to-end E 1\nMandate M 1"),
        (build_tag("EndToEndId", "NOTPROVIDED") + build_tag("MndtId", "NOTPROVIDED"), ""),
        ("", ""),
    ],
)
def test_camt_payment_references_are_noted(refs, notes):
    assert read_single_entry(build_transaction_details(build_tag("Refs", refs))).notes == notes


def test_camt_text_length_is_limited():
    why = f"Line 2: The text is longer than {MAX_TEXT_LENGTH} characters."
    assert len(read_single_entry(build_tag("AddtlNtryInf", "x" * MAX_TEXT_LENGTH)).description) == MAX_TEXT_LENGTH
    assert get_error(build_entry("-1.00", text="x" * (MAX_TEXT_LENGTH + 1))) == why
    long = build_detail("-1", text="x" * (MAX_TEXT_LENGTH + 1)) + build_detail("-1", text="y")
    assert get_error(build_entry("-2.00", details=long)) == why


# ---------------------------------------------------------------------------------------------- several payments


def read_batch(*details, value="-100.00", **more):
    (entry,) = read_entries(build_entry(value, details="".join(details), **more))
    return entry


def build_payment(value, name="A", text="a", *, inside=""):
    return build_detail(value, name=name, text=text).replace("</TxDtls>", f"{inside}</TxDtls>")


def test_camt_payments_that_add_up_become_parts():
    own = "<Refs><AcctSvcrRef>P-1</AcctSvcrRef>"
    first = build_payment("-30").replace("<Refs>", own)
    batch = read_batch(first, build_detail("-70", name="B", text="b", end_to_end="E-1"), ref="R", status="PDNG")
    one, other = batch.parts
    assert (one.amount, one.from_to, one.description, one.reference, one.notes) == ("-30", "A", "a", "P-1", "")
    assert (other.amount, other.from_to, other.reference, other.notes) == ("-70", "B", "R", "End-to-end E-1")
    for part in batch.parts:
        assert (part.day, part.currency, part.pending, part.line) == (date(2026, 1, 15), "EUR", True, 2)
    assert (batch.from_to, batch.description, batch.reference) == ("", "", "R")
    assert batch.notes == "2 payments\nA · a · 30\nB · b · 70"


def test_camt_payments_of_one_party_give_entry_its_name():
    assert read_batch(build_payment("-30"), build_payment("-70", text="b")).from_to == "A"
    assert read_batch(build_payment("-30"), build_payment("-70", name="")).from_to == ""


def test_camt_payment_in_opposite_direction_names_its_debtor():
    back = build_payment("20", name="C")
    batch = read_batch(build_payment("-120"), back)
    assert [(each.amount, each.from_to) for each in batch.parts] == [("-120", "A"), ("20", "C")]


def test_camt_payment_without_sign_takes_sign_of_entry():
    bare = build_payment("-50").replace("<CdtDbtInd>DBIT</CdtDbtInd>", "")
    assert [each.amount for each in read_batch(bare, bare).parts] == ["-50", "-50"]
    came = build_payment("50").replace("<CdtDbtInd>CRDT</CdtDbtInd>", "")
    assert [each.amount for each in read_batch(came, came, value="100.00").parts] == ["50", "50"]


@pytest.mark.parametrize(
    "details",
    [
        [build_payment("-30"), build_payment("-69.99")],
        [build_payment("-30"), build_detail(name="B", entry_value="-70")],  # one tells no amount
        [build_payment("-30"), build_detail("-70", name="B", currency="USD")],
    ],
)
def test_camt_payments_that_do_not_add_up_are_only_noted(details):
    batch = read_batch(*details)
    assert batch.parts == ()
    assert batch.notes.startswith("2 payments\nA · a · 30\n")


def test_camt_foreign_payment_is_converted_if_bank_reports_it():
    told_too = build_tag("AmtDtls", build_tag("TxAmt", build_amount("70")))
    batch = read_batch(
        build_payment("-30"), build_detail("-80", currency="USD", name="B").replace("</TxDtls>", f"{told_too}</TxDtls>")
    )
    assert [each.amount for each in batch.parts] == ["-30", "-70"]
    plain = build_payment("-70").replace(' Ccy="EUR"', "")  # of no currency: in the entry's
    assert [each.amount for each in read_batch(build_payment("-30"), plain).parts] == ["-30", "-70"]


def test_camt_payments_of_reversal_name_party_of_original():
    details = "".join(build_detail(value, text="x").replace("</TxDtls>", f"{both}</TxDtls>") for value, both in [
        ("30", build_tag("RltdPties", build_wrapped_party("Cdtr", "paid"), build_wrapped_party("Dbtr", "us"))),
        ("70", build_tag("RltdPties", build_wrapped_party("Cdtr", "paid"), build_wrapped_party("Dbtr", "us"))),
    ])  # fmt: skip
    batch = read_batch(details, value="100.00", reversal=True)
    assert (batch.from_to, [each.from_to for each in batch.parts]) == ("paid", ["paid", "paid"])


def test_camt_payments_may_be_in_several_groups():
    (entry,) = read_entries(build_tag("Ntry", build_amount("-3"), build_tag("CdtDbtInd", "DBIT"), DAY,
                        build_tag("NtryDtls", build_payment("-1")),
                        build_tag("NtryDtls", build_payment("-2"))))  # fmt: skip
    assert [each.amount for each in entry.parts] == ["-1", "-2"]


def test_camt_entry_notes_precede_payment_list():
    batch = read_batch(build_payment("-30"), build_payment("-70"), value_day="2026-01-20")
    assert batch.notes.splitlines()[:2] == ["Value date 2026-01-20", "2 payments"]

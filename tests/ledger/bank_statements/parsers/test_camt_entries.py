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
    return camt.read_camt(text.encode(), most=100)[1][0].entries


def read_single_entry(*inside, value="1.00", sign="DBIT", day=DAY, **more):
    (found,) = read_entries(build_tag("Ntry", build_amount(value), build_tag("CdtDbtInd", sign), day, *inside), **more)
    return found


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
def test_the_sign_is_told_beside_the_amount_and_a_reversal_changes_none(sign, value):
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
        (build_tag("CdtDbtInd", "CRDT") + DAY, "Ntry has no Amt, or no CdtDbtInd that is CRDT or DBIT."),
        (build_amount("1") + DAY, "Ntry has no Amt, or no CdtDbtInd that is CRDT or DBIT."),
        (
            build_amount("1") + build_tag("CdtDbtInd", "X") + DAY,
            "Ntry has no Amt, or no CdtDbtInd that is CRDT or DBIT.",
        ),
        (build_tag("Amt", "x") + build_tag("CdtDbtInd", "CRDT") + DAY, "“x” is no amount."),
        (
            build_amount("1") + build_tag("CdtDbtInd", "CRDT") + build_tag("BookgDt", build_tag("Dt", "x" * 50)),
            f"{'x' * 40} is no date.",
        ),
        (
            build_amount("1") + build_tag("CdtDbtInd", "CRDT") + DAY + build_tag("ValDt", build_tag("DtTm", "soon")),
            "soon is no date.",
        ),
    ],
)
def test_a_broken_entry_is_told_with_its_line(inside, said):
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
def test_an_entry_is_of_the_day_it_was_booked_and_notes_another_value_date(booked, valued, day, notes):
    found = read_single_entry(day=build_tag("BookgDt", booked) + build_tag("ValDt", valued))
    assert (str(found.day), found.notes) == (day, notes)


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
def test_what_the_bank_has_not_booked_is_pending_and_in_a_report_what_it_does_not_say(status, kind, pending):
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
def test_a_reference_is_the_banks_own_and_no_place_in_a_file(inside, reference):
    assert read_single_entry(inside).reference == reference


# ---------------------------------------------------------------------------------------------- currencies


def build_foreign_entry(*inside):
    return build_tag("Ntry", build_amount("8", "USD"), build_tag("CdtDbtInd", "DBIT"), DAY, *inside)


@pytest.mark.parametrize("name", ["TxAmt", "CntrValAmt", "InstdAmt", "AnncdPstngAmt"])
@pytest.mark.parametrize("place", ["entry", "payment"])
def test_money_of_another_currency_is_told_in_the_statements_where_the_bank_tells_it(name, place):
    paid_in = "TxAmt" if name == "InstdAmt" else "InstdAmt"
    details = build_tag("AmtDtls", build_tag(paid_in, build_amount("8", "USD")), build_tag(name, build_amount("7.5")))
    (found,) = read_entries(build_foreign_entry(details if place == "entry" else build_transaction_details(details)))
    assert (found.amount, found.currency, found.notes) == ("-7.5", "EUR", "Amount USD -8")


def test_the_entrys_own_details_go_before_its_payments_and_those_before_the_payments_amount():
    def within(value):
        return build_tag("AmtDtls", build_tag("TxAmt", build_amount(value)))

    (found,) = read_entries(build_foreign_entry(within("1"), build_transaction_details(within("2"), build_amount("3"))))
    assert found.amount == "-1"
    (found,) = read_entries(build_foreign_entry(build_transaction_details(within("2"), build_amount("3"))))
    assert found.amount == "-2"
    (found,) = read_entries(build_foreign_entry(build_transaction_details(build_amount("3"))))
    assert found.amount == "-3"


def test_money_that_nobody_converts_stays_in_its_currency():
    (found,) = read_entries(
        build_foreign_entry(
            build_transaction_details(build_amount("8", "USD")),
            build_tag("AmtDtls", build_tag("TxAmt", build_amount("8", "USD"))),
        )
    )
    assert (found.amount, found.currency, found.notes) == ("-8", "USD", "")
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
def test_what_is_no_amount_within_an_entry_is_told_with_its_line(inside):
    assert get_error("\n", inside) == "Line 3: “x” is no amount."


def test_an_amount_in_the_own_currency_is_taken_as_it_is():
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
def test_the_other_party_is_who_money_comes_from_or_goes_to(sign, reversal, name):
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
def test_a_party_is_named_at_once_or_within_and_the_nearer_one_goes_first(inside, name):
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
def test_what_a_payment_is_for_is_its_free_text_or_what_it_refers_to_or_what_the_bank_adds(inside, text):
    assert (
        read_single_entry(build_transaction_details(inside), build_tag("AddtlNtryInf", " of the \n entry ")).description
        == text
    )


def test_an_entry_without_payments_names_nobody():
    found = read_single_entry(build_tag("AddtlNtryInf", "Fees"))
    assert (found.from_to, found.description, found.notes, found.parts) == ("", "Fees", "", ())


@pytest.mark.parametrize(
    ("refs", "notes"),
    [
        (build_tag("EndToEndId", " E 1 ") + build_tag("MndtId", " M\n1 "), "End-to-end E 1\nMandate M 1"),
        (build_tag("EndToEndId", "NOTPROVIDED") + build_tag("MndtId", "NOTPROVIDED"), ""),
        ("", ""),
    ],
)
def test_references_of_a_payment_are_noted_where_they_are_given(refs, notes):
    assert read_single_entry(build_transaction_details(build_tag("Refs", refs))).notes == notes


def test_texts_are_as_long_as_the_ledger_holds():
    why = f"Line 2: A text of more than {MAX_TEXT_LENGTH} characters."
    assert len(read_single_entry(build_tag("AddtlNtryInf", "x" * MAX_TEXT_LENGTH)).description) == MAX_TEXT_LENGTH
    assert get_error(build_entry("-1.00", text="x" * (MAX_TEXT_LENGTH + 1))) == why
    long = build_detail("-1", text="x" * (MAX_TEXT_LENGTH + 1)) + build_detail("-1", text="y")
    assert get_error(build_entry("-2.00", details=long)) == why


# ---------------------------------------------------------------------------------------------- several payments


def read_batch(*details, value="-100.00", **more):
    (found,) = read_entries(build_entry(value, details="".join(details), **more))
    return found


def build_payment(value, name="A", text="a", *, inside=""):
    return build_detail(value, name=name, text=text).replace("</TxDtls>", f"{inside}</TxDtls>")


def test_payments_that_add_up_are_told_one_by_one_as_the_entry_is():
    own = "<Refs><AcctSvcrRef>P-1</AcctSvcrRef>"
    first = build_payment("-30").replace("<Refs>", own)
    found = read_batch(first, build_detail("-70", name="B", text="b", end_to_end="E-1"), ref="R", status="PDNG")
    one, other = found.parts
    assert (one.amount, one.from_to, one.description, one.reference, one.notes) == ("-30", "A", "a", "P-1", "")
    assert (other.amount, other.from_to, other.reference, other.notes) == ("-70", "B", "R", "End-to-end E-1")
    for part in found.parts:
        assert (part.day, part.currency, part.pending, part.line) == (date(2026, 1, 15), "EUR", True, 2)
    assert (found.from_to, found.description, found.reference) == ("", "", "R")
    assert found.notes == "2 payments\nA · a · 30\nB · b · 70"


def test_payments_of_one_party_name_it_once_for_all():
    assert read_batch(build_payment("-30"), build_payment("-70", text="b")).from_to == "A"
    assert read_batch(build_payment("-30"), build_payment("-70", name="")).from_to == ""


def test_a_payment_may_go_the_other_way_and_then_tells_who_it_came_from():
    back = build_payment("20", name="C")
    found = read_batch(build_payment("-120"), back)
    assert [(each.amount, each.from_to) for each in found.parts] == [("-120", "A"), ("20", "C")]


def test_a_payment_without_a_sign_goes_as_its_entry_goes():
    bare = build_payment("-50").replace("<CdtDbtInd>DBIT</CdtDbtInd>", "")
    assert [each.amount for each in read_batch(bare, bare).parts] == ["-50", "-50"]
    came = build_payment("50").replace("<CdtDbtInd>CRDT</CdtDbtInd>", "")
    assert [each.amount for each in read_batch(came, came, value="100.00").parts] == ["50", "50"]


@pytest.mark.parametrize(
    "details",
    [
        [build_payment("-30"), build_payment("-69.99")],
        [build_payment("-30"), build_detail(name="B", of="-70")],  # one tells no amount
        [build_payment("-30"), build_detail("-70", name="B", currency="USD")],
    ],
)
def test_payments_that_do_not_add_up_are_told_in_the_notes_only(details):
    found = read_batch(*details)
    assert found.parts == ()
    assert found.notes.startswith("2 payments\nA · a · 30\n")


def test_a_payment_of_another_currency_is_taken_in_the_entrys_where_it_is_told():
    told_too = build_tag("AmtDtls", build_tag("TxAmt", build_amount("70")))
    found = read_batch(
        build_payment("-30"), build_detail("-80", currency="USD", name="B").replace("</TxDtls>", f"{told_too}</TxDtls>")
    )
    assert [each.amount for each in found.parts] == ["-30", "-70"]
    plain = build_payment("-70").replace(' Ccy="EUR"', "")  # of no currency: in the entry's
    assert [each.amount for each in read_batch(build_payment("-30"), plain).parts] == ["-30", "-70"]


def test_payments_of_a_reversal_tell_the_parties_of_what_it_takes_back():
    details = "".join(build_detail(value, text="x").replace("</TxDtls>", f"{both}</TxDtls>") for value, both in [
        ("30", build_tag("RltdPties", build_wrapped_party("Cdtr", "paid"), build_wrapped_party("Dbtr", "us"))),
        ("70", build_tag("RltdPties", build_wrapped_party("Cdtr", "paid"), build_wrapped_party("Dbtr", "us"))),
    ])  # fmt: skip
    found = read_batch(details, value="100.00", reversal=True)
    assert (found.from_to, [each.from_to for each in found.parts]) == ("paid", ["paid", "paid"])


def test_payments_may_stand_in_several_groups():
    (found,) = read_entries(build_tag("Ntry", build_amount("-3"), build_tag("CdtDbtInd", "DBIT"), DAY,
                        build_tag("NtryDtls", build_payment("-1")),
                        build_tag("NtryDtls", build_payment("-2"))))  # fmt: skip
    assert [each.amount for each in found.parts] == ["-1", "-2"]


def test_what_is_noted_of_an_entry_stands_before_its_payments():
    found = read_batch(build_payment("-30"), build_payment("-70"), value_day="2026-01-20")
    assert found.notes.splitlines()[:2] == ["Value date 2026-01-20", "2 payments"]

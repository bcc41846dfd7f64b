"""Entries of CAMT files, element by element; without a database."""

from datetime import date

import pytest

from ledger.statements.calc import camt
from ledger.statements.calc.facts import LONGEST_TEXT, Unreadable
from tests.ledger.banks import amount, detail, entry, tag

DAY = tag("BookgDt", tag("Dt", "2026-01-15"))
ACCOUNT = tag("Acct", tag("Id", tag("IBAN", "DE1")), tag("Ccy", "EUR"))


def told(*inside, account=ACCOUNT, kind="BkToCstmrStmt", name="Stmt"):
    text = f"<Document><{kind}><{name}>{account}\n{''.join(inside)}</{name}></{kind}></Document>"
    return camt.read(text.encode(), most=100)[1][0].entries


def only(*inside, value="1.00", sign="DBIT", day=DAY, **more):
    (found,) = told(tag("Ntry", amount(value), tag("CdtDbtInd", sign), day, *inside), **more)
    return found


def refused(*inside):
    with pytest.raises(Unreadable) as why:
        told(*inside)
    return str(why.value)


def paid(*inside):
    return tag("NtryDtls", tag("TxDtls", *inside))


def party(side, name, *, wrapped=False):
    inner = tag("Nm", name)
    return tag(side, tag("Pty", inner) if wrapped else inner)


# ---------------------------------------------------------------------------------------------- amount and day


@pytest.mark.parametrize(("sign", "value"), [("CRDT", "1"), ("DBIT", "-1")])
def test_the_sign_is_told_beside_the_amount_and_a_reversal_changes_none(sign, value):
    assert only(sign=sign).amount == only(tag("RvslInd", "true"), sign=sign).amount == value
    assert (only().currency, only().line, only().reference, only().notes) == ("EUR", 2, "", "")


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (tag("CdtDbtInd", "CRDT") + DAY, "Ntry has no Amt, or no CdtDbtInd that is CRDT or DBIT."),
        (amount("1") + DAY, "Ntry has no Amt, or no CdtDbtInd that is CRDT or DBIT."),
        (amount("1") + tag("CdtDbtInd", "X") + DAY, "Ntry has no Amt, or no CdtDbtInd that is CRDT or DBIT."),
        (tag("Amt", "x") + tag("CdtDbtInd", "CRDT") + DAY, "“x” is no amount."),
        (amount("1") + tag("CdtDbtInd", "CRDT") + tag("BookgDt", tag("Dt", "x" * 50)), f"{'x' * 40} is no date."),
        (amount("1") + tag("CdtDbtInd", "CRDT") + DAY + tag("ValDt", tag("DtTm", "soon")), "soon is no date."),
    ],
)
def test_a_broken_entry_is_told_with_its_line(inside, said):
    assert refused("\n", tag("Ntry", inside)) == f"Line 3: {said}"


@pytest.mark.parametrize(
    ("booked", "valued", "day", "notes"),
    [
        (tag("Dt", "2026-01-15"), tag("Dt", "2026-01-15"), "2026-01-15", ""),
        (tag("Dt", "2026-01-15"), tag("Dt", "2026-01-20"), "2026-01-15", "Value date 2026-01-20"),
        (tag("DtTm", "2026-01-15T23:59:59-08:00"), "", "2026-01-15", ""),
        ("", tag("Dt", "2026-01-20"), "2026-01-20", ""),
    ],
)
def test_an_entry_is_of_the_day_it_was_booked_and_notes_another_value_date(booked, valued, day, notes):
    found = only(day=tag("BookgDt", booked) + tag("ValDt", valued))
    assert (str(found.day), found.notes) == (day, notes)


@pytest.mark.parametrize(
    ("status", "kind", "pending"),
    [
        (tag("Sts", "BOOK"), "BkToCstmrAcctRpt", False),
        (tag("Sts", tag("Cd", "BOOK")), "BkToCstmrAcctRpt", False),
        (tag("Sts", "PDNG"), "BkToCstmrStmt", True),
        (tag("Sts", tag("Cd", "INFO")), "BkToCstmrStmt", True),
        ("", "BkToCstmrStmt", False),
        ("", "BkToCstmrAcctRpt", True),
    ],
)
def test_what_the_bank_has_not_booked_is_pending_and_in_a_report_what_it_does_not_say(status, kind, pending):
    name = {"BkToCstmrStmt": "Stmt", "BkToCstmrAcctRpt": "Rpt"}[kind]
    assert only(status, kind=kind, name=name).pending is pending


@pytest.mark.parametrize(
    ("inside", "reference"),
    [
        (tag("AcctSvcrRef", "B-1") + tag("NtryRef", "N-1"), "B-1"),
        (tag("AcctSvcrRef", "NOTPROVIDED") + tag("NtryRef", "N-1"), "N-1"),
        (tag("AcctSvcrRef", "NONREF") + tag("NtryRef", "NOT PROVIDED"), ""),
        (tag("NtryRef", "12345"), ""),  # its place in the file
        (tag("NtryRef", "123456"), "123456"),
        (tag("NtryRef", "A1"), "A1"),
        ("", ""),
    ],
)
def test_a_reference_is_the_banks_own_and_no_place_in_a_file(inside, reference):
    assert only(inside).reference == reference


# ---------------------------------------------------------------------------------------------- currencies


def foreign(*inside):
    return tag("Ntry", amount("8", "USD"), tag("CdtDbtInd", "DBIT"), DAY, *inside)


@pytest.mark.parametrize("name", ["TxAmt", "CntrValAmt", "InstdAmt", "AnncdPstngAmt"])
@pytest.mark.parametrize("place", ["entry", "payment"])
def test_money_of_another_currency_is_told_in_the_statements_where_the_bank_tells_it(name, place):
    paid_in = "TxAmt" if name == "InstdAmt" else "InstdAmt"
    details = tag("AmtDtls", tag(paid_in, amount("8", "USD")), tag(name, amount("7.5")))
    (found,) = told(foreign(details if place == "entry" else paid(details)))
    assert (found.amount, found.currency, found.notes) == ("-7.5", "EUR", "Amount USD -8")


def test_the_entrys_own_details_go_before_its_payments_and_those_before_the_payments_amount():
    def within(value):
        return tag("AmtDtls", tag("TxAmt", amount(value)))

    (found,) = told(foreign(within("1"), paid(within("2"), amount("3"))))
    assert found.amount == "-1"
    (found,) = told(foreign(paid(within("2"), amount("3"))))
    assert found.amount == "-2"
    (found,) = told(foreign(paid(amount("3"))))
    assert found.amount == "-3"


def test_money_that_nobody_converts_stays_in_its_currency():
    (found,) = told(foreign(paid(amount("8", "USD")), tag("AmtDtls", tag("TxAmt", amount("8", "USD")))))
    assert (found.amount, found.currency, found.notes) == ("-8", "USD", "")
    (bare,) = told(tag("Ntry", tag("Amt", "8"), tag("CdtDbtInd", "DBIT"), DAY))
    assert bare.currency == "EUR", "an amount without a currency is in the account's"
    details = tag("AmtDtls", tag("TxAmt", amount("7.5")))
    (first,) = told(foreign(details), account="")
    assert (first.amount, first.currency) == ("-8", "USD"), "nobody says what the statement is in"
    (alone,) = told(foreign())
    assert (alone.amount, alone.currency, alone.notes) == ("-8", "USD", "")


@pytest.mark.parametrize(
    "inside",
    [
        foreign(tag("AmtDtls", tag("TxAmt", amount("7.5").replace("7.5", "x")))),
        tag("Ntry", amount("-3"), tag("CdtDbtInd", "DBIT"), DAY,
            tag("NtryDtls", detail("-1").replace(">1<", ">x<"), detail("-2"))),
    ],
)  # fmt: skip
def test_what_is_no_amount_within_an_entry_is_told_with_its_line(inside):
    assert refused("\n", inside) == "Line 3: “x” is no amount."


def test_an_amount_in_the_own_currency_is_taken_as_it_is():
    assert only(tag("AmtDtls", tag("TxAmt", amount("7.5")))).amount == "-1"


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
    parties = tag("RltdPties", party("Dbtr", "debtor"), party("Cdtr", "creditor"))
    back = tag("RvslInd", reversal) if reversal else ""
    assert only(back, paid(parties), sign=sign).from_to == name


@pytest.mark.parametrize(
    ("inside", "name"),
    [
        (party("Cdtr", " A \n B "), "A B"),
        (party("Cdtr", "A", wrapped=True), "A"),
        (party("UltmtCdtr", "U"), "U"),
        (party("UltmtCdtr", "U", wrapped=True) + party("Cdtr", "A", wrapped=True), "A"),
        (party("Dbtr", "us"), ""),
        ("", ""),
    ],
)
def test_a_party_is_named_at_once_or_within_and_the_nearer_one_goes_first(inside, name):
    assert only(paid(tag("RltdPties", inside))).from_to == name
    ours = inside.replace("Cdtr", "\0").replace("Dbtr", "Cdtr").replace("\0", "Dbtr")
    assert only(paid(tag("RltdPties", ours)), sign="CRDT").from_to == name


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (tag("RmtInf", tag("Ustrd", "one"), tag("Ustrd", " two ")) + tag("AddtlTxInf", "x"), "one two"),
        (tag("RmtInf", tag("Ustrd", "free"), tag("Strd", tag("AddtlRmtInf", "y"))), "free"),
        (tag("RmtInf", tag("Strd", tag("CdtrRefInf", tag("Ref", "RF1")), tag("AddtlRmtInf", "y"))), "RF1"),
        (tag("RmtInf", tag("Strd", tag("AddtlRmtInf", "y"), tag("RfrdDocInf", tag("Nb", "7")))), "y"),
        (tag("RmtInf", tag("Strd", tag("RfrdDocInf", tag("Nb", "7"))), "<Strd/>", tag("Strd", tag("AddtlRmtInf", "y"))),
         "7 y"),
        (tag("AddtlTxInf", " more \n said "), "more said"),
        ("", "of the entry"),
    ],
)  # fmt: skip
def test_what_a_payment_is_for_is_its_free_text_or_what_it_refers_to_or_what_the_bank_adds(inside, text):
    assert only(paid(inside), tag("AddtlNtryInf", " of the \n entry ")).description == text


def test_an_entry_without_payments_names_nobody():
    found = only(tag("AddtlNtryInf", "Fees"))
    assert (found.from_to, found.description, found.notes, found.parts) == ("", "Fees", "", ())


@pytest.mark.parametrize(
    ("refs", "notes"),
    [
        (tag("EndToEndId", " E 1 ") + tag("MndtId", " M\n1 "), "End-to-end E 1\nMandate M 1"),
        (tag("EndToEndId", "NOTPROVIDED") + tag("MndtId", "NOTPROVIDED"), ""),
        ("", ""),
    ],
)
def test_references_of_a_payment_are_noted_where_they_are_given(refs, notes):
    assert only(paid(tag("Refs", refs))).notes == notes


def test_texts_are_as_long_as_the_ledger_holds():
    why = f"Line 2: A text of more than {LONGEST_TEXT} characters."
    assert len(only(tag("AddtlNtryInf", "x" * LONGEST_TEXT)).description) == LONGEST_TEXT
    assert refused(entry("-1.00", text="x" * (LONGEST_TEXT + 1))) == why
    long = detail("-1", text="x" * (LONGEST_TEXT + 1)) + detail("-1", text="y")
    assert refused(entry("-2.00", details=long)) == why


# ---------------------------------------------------------------------------------------------- several payments


def batch(*details, value="-100.00", **more):
    (found,) = told(entry(value, details="".join(details), **more))
    return found


def payment(value, name="A", text="a", *, inside=""):
    return detail(value, name=name, text=text).replace("</TxDtls>", f"{inside}</TxDtls>")


def test_payments_that_add_up_are_told_one_by_one_as_the_entry_is():
    own = "<Refs><AcctSvcrRef>P-1</AcctSvcrRef>"
    first = payment("-30").replace("<Refs>", own)
    found = batch(first, detail("-70", name="B", text="b", end_to_end="E-1"), ref="R", status="PDNG")
    one, other = found.parts
    assert (one.amount, one.from_to, one.description, one.reference, one.notes) == ("-30", "A", "a", "P-1", "")
    assert (other.amount, other.from_to, other.reference, other.notes) == ("-70", "B", "R", "End-to-end E-1")
    for part in found.parts:
        assert (part.day, part.currency, part.pending, part.line) == (date(2026, 1, 15), "EUR", True, 2)
    assert (found.from_to, found.description, found.reference) == ("", "", "R")
    assert found.notes == "2 payments\nA · a · 30\nB · b · 70"


def test_payments_of_one_party_name_it_once_for_all():
    assert batch(payment("-30"), payment("-70", text="b")).from_to == "A"
    assert batch(payment("-30"), payment("-70", name="")).from_to == ""


def test_a_payment_may_go_the_other_way_and_then_tells_who_it_came_from():
    back = payment("20", name="C")
    found = batch(payment("-120"), back)
    assert [(each.amount, each.from_to) for each in found.parts] == [("-120", "A"), ("20", "C")]


def test_a_payment_without_a_sign_goes_as_its_entry_goes():
    bare = payment("-50").replace("<CdtDbtInd>DBIT</CdtDbtInd>", "")
    assert [each.amount for each in batch(bare, bare).parts] == ["-50", "-50"]
    came = payment("50").replace("<CdtDbtInd>CRDT</CdtDbtInd>", "")
    assert [each.amount for each in batch(came, came, value="100.00").parts] == ["50", "50"]


@pytest.mark.parametrize(
    "details",
    [
        [payment("-30"), payment("-69.99")],
        [payment("-30"), detail(name="B", of="-70")],  # one tells no amount
        [payment("-30"), detail("-70", name="B", currency="USD")],
    ],
)
def test_payments_that_do_not_add_up_are_told_in_the_notes_only(details):
    found = batch(*details)
    assert found.parts == ()
    assert found.notes.startswith("2 payments\nA · a · 30\n")


def test_a_payment_of_another_currency_is_taken_in_the_entrys_where_it_is_told():
    told_too = tag("AmtDtls", tag("TxAmt", amount("70")))
    found = batch(payment("-30"), detail("-80", currency="USD", name="B").replace("</TxDtls>", f"{told_too}</TxDtls>"))
    assert [each.amount for each in found.parts] == ["-30", "-70"]
    plain = payment("-70").replace(' Ccy="EUR"', "")  # of no currency: in the entry's
    assert [each.amount for each in batch(payment("-30"), plain).parts] == ["-30", "-70"]


def test_payments_of_a_reversal_tell_the_parties_of_what_it_takes_back():
    details = "".join(detail(value, text="x").replace("</TxDtls>", f"{both}</TxDtls>") for value, both in [
        ("30", tag("RltdPties", party("Cdtr", "paid"), party("Dbtr", "us"))),
        ("70", tag("RltdPties", party("Cdtr", "paid"), party("Dbtr", "us"))),
    ])  # fmt: skip
    found = batch(details, value="100.00", reversal=True)
    assert (found.from_to, [each.from_to for each in found.parts]) == ("paid", ["paid", "paid"])


def test_payments_may_stand_in_several_groups():
    (found,) = told(tag("Ntry", amount("-3"), tag("CdtDbtInd", "DBIT"), DAY,
                        tag("NtryDtls", payment("-1")), tag("NtryDtls", payment("-2"))))  # fmt: skip
    assert [each.amount for each in found.parts] == ["-1", "-2"]


def test_what_is_noted_of_an_entry_stands_before_its_payments():
    found = batch(payment("-30"), payment("-70"), value_day="2026-01-20")
    assert found.notes.splitlines()[:2] == ["Value date 2026-01-20", "2 payments"]

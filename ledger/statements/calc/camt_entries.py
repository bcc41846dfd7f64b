"""Entries of CAMT files: one movement each, with the payments in it where it is several.

What is said of a payment lies at the same place in all versions but for few elements, which are asked for at both.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from xml.etree.ElementTree import Element

from ledger.importing.calc.entries import Entry
from ledger.statements.calc.elements import at, day_at, said
from ledger.statements.calc.facts import LONGEST_TEXT, Unreadable, amount_of, clean, fitting

SEQUENCE = 5  # digits up to which a number is an entry's place in its file, and no reference
NOT_GIVEN = {"", "NOTPROVIDED", "NONREF", "NOT PROVIDED"}
NO_DAY = date.min  # until the statement's own is known


def entry_of(element: Element, format_: str, currency: str, line: int) -> Entry:
    """One entry; in the statement's currency where it tells its amount in that. Raises Unreadable."""
    has = {each.tag: each for each in element}
    sign = said(has.get("CdtDbtInd"))
    if "Amt" not in has or sign not in ("CRDT", "DBIT"):
        raise Unreadable("Ntry has no Amt, or no CdtDbtInd that is CRDT or DBIT.", line=line)
    credit, reversal = sign == "CRDT", said(has.get("RvslInd")) in ("true", "1")
    details = [each for group in element.iterfind("NtryDtls") for each in group.iterfind("TxDtls")]
    only = details[0] if len(details) == 1 else None
    amount = amount_of(said(has["Amt"]), negative=not credit, line=line)
    own = has["Amt"].get("Ccy") or currency
    booked, valued = day_in(has.get("BookgDt"), line), day_in(has.get("ValDt"), line)
    notes = [f"Value date {valued}"] if valued and booked and valued != booked else []
    if currency and own != currency and (told := amount_in(currency, element, only)):
        notes.append(f"Amount {own} {amount}")
        amount, own = amount_of(told, negative=not credit, line=line), currency
    reference = reference_of(has)
    status = status_of(has.get("Sts"))
    pending = status not in ("BOOK", "") or (not status and format_ == "camt.052")
    from_to, text, more = party_and_text(only, credit=credit, reversal=reversal)
    day = booked or valued or NO_DAY
    parts: tuple[Entry, ...] = ()
    if len(details) > 1:
        parts = tuple(payments(details, day, amount, own, credit, reversal, reference, pending, line))
        from_to, more = together(details, credit=credit, reversal=reversal, currency=own)
    return Entry(
        day=day,
        amount=amount,
        currency=own,
        from_to=from_to,
        description=fitted(text or clean(said(has.get("AddtlNtryInf"))), line),
        notes=fitting(notes + more),
        reference=reference,
        pending=pending,
        line=line,
        parts=parts,
    )


def day_in(element: Element | None, line: int) -> date | None:
    """The day of an entry; None where none is told. Raises Unreadable for what is none."""
    found = day_at(element)
    if found is None and (told := at(element, "Dt") or at(element, "DtTm")):
        raise Unreadable("{text} is no date.", line=line, text=told[:40])
    return found


def status_of(element: Element | None) -> str:
    """Its text, or since version 08 that of its code.

    >>> from xml.etree.ElementTree import SubElement
    >>> old, new = Element("Sts"), Element("Sts")
    >>> old.text = SubElement(new, "Cd").text = "BOOK"
    >>> status_of(old), status_of(new)
    ('BOOK', 'BOOK')
    """
    return said(element) or at(element, "Cd")


def reference_of(has: dict[str, Element]) -> str:
    """The bank's own; a small number is an entry's place in the file."""
    given = said(has.get("AcctSvcrRef"))
    if given not in NOT_GIVEN:
        return given
    given = said(has.get("NtryRef"))
    return "" if given in NOT_GIVEN or (given.isdecimal() and len(given) <= SEQUENCE) else given


def amount_in(currency: str, *elements: Element | None) -> str:
    """The amount that the details name in the currency, where they do."""
    for element in elements:
        details = element.find("AmtDtls") if element is not None else None
        for name in ("TxAmt", "CntrValAmt", "InstdAmt", "AnncdPstngAmt"):
            amount = details.find(f"{name}/Amt") if details is not None else None
            if amount is not None and amount.get("Ccy") == currency:
                return said(amount)
    plain = elements[-1].find("Amt") if elements[-1] is not None else None
    return said(plain) if plain is not None and plain.get("Ccy") == currency else ""


def payments(
    details: list[Element],
    day: date,
    amount: str,
    currency: str,
    credit: bool,  # noqa: FBT001 - as the entry has it
    reversal: bool,  # noqa: FBT001
    reference: str,
    pending: bool,  # noqa: FBT001
    line: int,
) -> Iterator[Entry]:
    """An entry's single payments; none at all where they do not carry amounts that add up to it."""
    found, total = [], Decimal(0)
    for each in details:
        told = detail_amount(each, currency)
        if not told:
            return
        sign = at(each, "CdtDbtInd")
        credited = sign == "CRDT" if sign else credit
        value = amount_of(told, negative=not credited, line=line)
        total += Decimal(value)
        found.append((value, credited, each))
    if total != Decimal(amount):
        return
    for value, credited, each in found:
        from_to, text, notes = party_and_text(each, credit=credited, reversal=reversal)
        own = at(each, "Refs", "AcctSvcrRef")
        yield Entry(
            day=day,
            amount=value,
            currency=currency,
            from_to=from_to,
            description=fitted(text, line),
            notes=fitting(notes),
            reference=reference if own in NOT_GIVEN else own,
            pending=pending,
            line=line,
        )


def detail_amount(detail: Element, currency: str) -> str:
    amount = detail.find("Amt")
    if amount is not None and amount.get("Ccy", currency) == currency:
        return said(amount)
    return amount_in(currency, detail)


def together(details: list[Element], *, credit: bool, reversal: bool, currency: str) -> tuple[str, list[str]]:
    """(the one party of all payments, or nothing; what is known of each)."""
    names, lines = set(), [f"{len(details)} payments"]
    for each in details:
        from_to, text, _ = party_and_text(each, credit=credit, reversal=reversal)
        names.add(from_to)
        lines.append(" · ".join(filter(None, (from_to, text, detail_amount(each, currency)))))
    return (names.pop() if len(names) == 1 else ""), lines


def party_and_text(detail: Element | None, *, credit: bool, reversal: bool) -> tuple[str, str, list[str]]:
    """(the other party, the remittance text, further notes) of a payment.

    Of money that comes in the other party is the debtor; a reversal tells the parties of the payment it takes back.
    """
    if detail is None:
        return "", "", []
    has = {each.tag: each for each in detail}
    parties = has.get("RltdPties")
    sides = ("Dbtr", "UltmtDbtr") if credit is not reversal else ("Cdtr", "UltmtCdtr")
    name = next((found for side in sides if (found := at(parties, side, "Nm") or at(parties, side, "Pty", "Nm"))), "")
    text = remittance(has.get("RmtInf")) or said(has.get("AddtlTxInf"))
    refs, notes = has.get("Refs"), []
    if (end_to_end := at(refs, "EndToEndId")) not in NOT_GIVEN:
        notes.append(f"End-to-end {clean(end_to_end)}")
    if (mandate := at(refs, "MndtId")) not in NOT_GIVEN:
        notes.append(f"Mandate {clean(mandate)}")
    return clean(name), clean(text), notes


def remittance(element: Element | None) -> str:
    """The free text, or else what the structured one refers to."""
    if element is None:
        return ""
    free = [said(each) for each in element.iterfind("Ustrd")]
    if free:
        return " ".join(free)
    structured = [
        at(each, "CdtrRefInf", "Ref") or at(each, "AddtlRmtInf") or at(each, "RfrdDocInf", "Nb")
        for each in element.iterfind("Strd")
    ]
    return " ".join(filter(None, structured))


def fitted(text: str, line: int) -> str:
    if len(text) > LONGEST_TEXT:
        raise Unreadable("A text of more than {most} characters.", line=line, most=LONGEST_TEXT)
    return text

"""Entries of CAMT files: one transaction each, with its single payments if it is a batch.

All versions have payment details at the same place but for few elements, which are read at both.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from xml.etree.ElementTree import Element

from ledger.bank_statements.parsers.models import (
    MAX_TEXT_LENGTH,
    UnreadableFileError,
    clean_text,
    join_fitting_lines,
    to_signed_amount,
)
from ledger.bank_statements.parsers.xml_elements import get_day_at, get_element_text, get_text_at
from ledger.imports.calc.entries import Entry

MAX_SEQUENCE_DIGITS = 5  # digits up to which a number is an entry's place in its file, and no reference
NOT_GIVEN = {"", "NOTPROVIDED", "NONREF", "NOT PROVIDED"}
NO_DAY = date.min  # until the statement's own is known


def build_camt_entry(element: Element, format_: str, currency: str, line: int) -> Entry:
    """Return one entry, in the statement's currency if its amount is given in it. Raises UnreadableFileError."""
    children = {child.tag: child for child in element}
    sign = get_element_text(children.get("CdtDbtInd"))
    if "Amt" not in children or sign not in ("CRDT", "DBIT"):
        raise UnreadableFileError("Ntry has no Amt, or its CdtDbtInd is neither CRDT nor DBIT.", line=line)
    credit, reversal = sign == "CRDT", get_element_text(children.get("RvslInd")) in ("true", "1")
    details = [child for group in element.iterfind("NtryDtls") for child in group.iterfind("TxDtls")]
    single_detail = details[0] if len(details) == 1 else None
    amount = to_signed_amount(get_element_text(children["Amt"]), negative=not credit, line=line)
    entry_currency = children["Amt"].get("Ccy") or currency
    booked, valued = parse_entry_day(children.get("BookgDt"), line), parse_entry_day(children.get("ValDt"), line)
    notes = [f"Value date {valued}"] if valued and booked and valued != booked else []
    if (
        currency
        and entry_currency != currency
        and (own_amount := find_amount_in_currency(currency, element, single_detail))
    ):
        notes.append(f"Amount {entry_currency} {amount}")
        amount, entry_currency = to_signed_amount(own_amount, negative=not credit, line=line), currency
    reference = get_entry_reference(children)
    status = get_entry_status(children.get("Sts"))
    pending = status not in ("BOOK", "") or (not status and format_ == "camt.052")
    from_to, text, more_notes = extract_party_and_text(single_detail, credit=credit, reversal=reversal)
    day = booked or valued or NO_DAY
    parts: tuple[Entry, ...] = ()
    if len(details) > 1:
        parts = tuple(
            iterate_batch_payments(details, day, amount, entry_currency, credit, reversal, reference, pending, line)
        )
        from_to, more_notes = summarize_payments(details, credit=credit, reversal=reversal, currency=entry_currency)
    return Entry(
        day=day,
        amount=amount,
        currency=entry_currency,
        from_to=from_to,
        description=check_text_length(text or clean_text(get_element_text(children.get("AddtlNtryInf"))), line),
        notes=join_fitting_lines(notes + more_notes),
        reference=reference,
        pending=pending,
        line=line,
        parts=parts,
    )


def parse_entry_day(element: Element | None, line: int) -> date | None:
    """Return the day of an entry; None if it has none. Raises UnreadableFileError if it is invalid."""
    day = get_day_at(element)
    if day is None and (text := get_text_at(element, "Dt") or get_text_at(element, "DtTm")):
        raise UnreadableFileError("{text} is not a valid date.", line=line, text=text[:40])
    return day


def get_entry_status(element: Element | None) -> str:
    """Return the status: its text, or since version 08 that of its code.

    >>> from xml.etree.ElementTree import SubElement
    >>> old, new = Element("Sts"), Element("Sts")
    >>> old.text = SubElement(new, "Cd").text = "BOOK"
    >>> get_entry_status(old), get_entry_status(new)
    ('BOOK', 'BOOK')
    """
    return get_element_text(element) or get_text_at(element, "Cd")


def get_entry_reference(children: dict[str, Element]) -> str:
    """Return the bank's reference; a small number is only the entry's position in the file."""
    reference = get_element_text(children.get("AcctSvcrRef"))
    if reference not in NOT_GIVEN:
        return reference
    reference = get_element_text(children.get("NtryRef"))
    return (
        "" if reference in NOT_GIVEN or (reference.isdecimal() and len(reference) <= MAX_SEQUENCE_DIGITS) else reference
    )


def find_amount_in_currency(currency: str, *elements: Element | None) -> str:
    """Return the amount that the details give in the currency; empty if none."""
    for element in elements:
        details = element.find("AmtDtls") if element is not None else None
        for name in ("TxAmt", "CntrValAmt", "InstdAmt", "AnncdPstngAmt"):
            amount = details.find(f"{name}/Amt") if details is not None else None
            if amount is not None and amount.get("Ccy") == currency:
                return get_element_text(amount)
    own_amount = elements[-1].find("Amt") if elements[-1] is not None else None
    return get_element_text(own_amount) if own_amount is not None and own_amount.get("Ccy") == currency else ""


def iterate_batch_payments(
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
    """Yield an entry's single payments; none at all if they have no amounts that add up to it."""
    signed_details, total = [], Decimal(0)
    for detail in details:
        amount_text = get_detail_amount(detail, currency)
        if not amount_text:
            return
        sign = get_text_at(detail, "CdtDbtInd")
        credited = sign == "CRDT" if sign else credit
        value = to_signed_amount(amount_text, negative=not credited, line=line)
        total += Decimal(value)
        signed_details.append((value, credited, detail))
    if total != Decimal(amount):
        return
    for value, credited, detail in signed_details:
        from_to, text, notes = extract_party_and_text(detail, credit=credited, reversal=reversal)
        payment_reference = get_text_at(detail, "Refs", "AcctSvcrRef")
        yield Entry(
            day=day,
            amount=value,
            currency=currency,
            from_to=from_to,
            description=check_text_length(text, line),
            notes=join_fitting_lines(notes),
            reference=reference if payment_reference in NOT_GIVEN else payment_reference,
            pending=pending,
            line=line,
        )


def get_detail_amount(detail: Element, currency: str) -> str:
    """Return the amount of a payment in the currency; empty if none."""
    amount = detail.find("Amt")
    if amount is not None and amount.get("Ccy", currency) == currency:
        return get_element_text(amount)
    return find_amount_in_currency(currency, detail)


def summarize_payments(details: list[Element], *, credit: bool, reversal: bool, currency: str) -> tuple[str, list[str]]:
    """Return (the common other party of all payments, or empty; a line for each)."""
    names, lines = set(), [f"{len(details)} payments"]
    for detail in details:
        from_to, text, _ = extract_party_and_text(detail, credit=credit, reversal=reversal)
        names.add(from_to)
        lines.append(" · ".join(filter(None, (from_to, text, get_detail_amount(detail, currency)))))
    return (names.pop() if len(names) == 1 else ""), lines


def extract_party_and_text(detail: Element | None, *, credit: bool, reversal: bool) -> tuple[str, str, list[str]]:
    """Return (the other party, the remittance text, further notes) of a payment.

    Of incoming money the other party is the debtor; a reversal has the parties of the payment it reverses.
    """
    if detail is None:
        return "", "", []
    children = {child.tag: child for child in detail}
    parties = children.get("RltdPties")
    sides = ("Dbtr", "UltmtDbtr") if credit is not reversal else ("Cdtr", "UltmtCdtr")
    name = next(
        (
            party_name
            for side in sides
            if (party_name := get_text_at(parties, side, "Nm") or get_text_at(parties, side, "Pty", "Nm"))
        ),
        "",
    )
    text = extract_remittance_text(children.get("RmtInf")) or get_element_text(children.get("AddtlTxInf"))
    refs, notes = children.get("Refs"), []
    if (end_to_end := get_text_at(refs, "EndToEndId")) not in NOT_GIVEN:
        notes.append(f"End-to-end {clean_text(end_to_end)}")
    if (mandate := get_text_at(refs, "MndtId")) not in NOT_GIVEN:
        notes.append(f"Mandate {clean_text(mandate)}")
    return clean_text(name), clean_text(text), notes


def extract_remittance_text(element: Element | None) -> str:
    """Return the unstructured text, or else the references of the structured one."""
    if element is None:
        return ""
    free_texts = [get_element_text(child) for child in element.iterfind("Ustrd")]
    if free_texts:
        return " ".join(free_texts)
    structured_texts = [
        get_text_at(child, "CdtrRefInf", "Ref")
        or get_text_at(child, "AddtlRmtInf")
        or get_text_at(child, "RfrdDocInf", "Nb")
        for child in element.iterfind("Strd")
    ]
    return " ".join(filter(None, structured_texts))


def check_text_length(text: str, line: int) -> str:
    """Return the text. Raises UnreadableFileError if it is too long."""
    if len(text) > MAX_TEXT_LENGTH:
        raise UnreadableFileError("The text is longer than {most} characters.", line=line, most=MAX_TEXT_LENGTH)
    return text

"""Read texts and days from small XML trees by element names."""

from datetime import date
from xml.etree.ElementTree import Element

from ledger.bank_statements.parsers.models import parse_iso_day


def get_element_text(element: Element | None) -> str:
    """Return an element's own text."""
    return (element.text or "").strip() if element is not None else ""


def get_text_at(element: Element | None, *names: str) -> str:
    """Return the text of a nested element; empty if it is missing.

    >>> from xml.etree.ElementTree import SubElement
    >>> account = Element("Acct")
    >>> SubElement(SubElement(account, "Id"), "IBAN").text = " DE89 "
    >>> get_text_at(account, "Id", "IBAN"), get_text_at(account, "Ccy")
    ('DE89', '')
    """
    for name in names:
        if element is None:
            return ""
        element = element.find(name)
    return get_element_text(element)


def get_day_at(element: Element | None) -> date | None:
    """Return the day of a nested Dt or DtTm, as written."""
    return parse_iso_day(get_text_at(element, "Dt") or get_text_at(element, "DtTm"))

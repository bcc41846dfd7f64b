"""Looking into small trees of XML: texts and days, by the names of the elements."""

from datetime import date
from xml.etree.ElementTree import Element

from ledger.statements.calc.facts import iso_day


def said(element: Element | None) -> str:
    """An element's own text."""
    return (element.text or "").strip() if element is not None else ""


def at(element: Element | None, *names: str) -> str:
    """The text of the element down there; nothing where there is none.

    >>> from xml.etree.ElementTree import SubElement
    >>> account = Element("Acct")
    >>> SubElement(SubElement(account, "Id"), "IBAN").text = " DE89 "
    >>> at(account, "Id", "IBAN"), at(account, "Ccy")
    ('DE89', '')
    """
    for name in names:
        if element is None:
            return ""
        element = element.find(name)
    return said(element)


def day_at(element: Element | None) -> date | None:
    """The day of a Dt or a DtTm inside, as it is written there."""
    return iso_day(at(element, "Dt") or at(element, "DtTm"))

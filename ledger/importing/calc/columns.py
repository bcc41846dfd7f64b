"""Which column of a table says what: guessed from its headings and its data, or as somebody chose. No database."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ledger.calc.letters import bare
from ledger.calc.tables import Line, first_of_usual_width, usual_width
from ledger.importing.calc.written import DateOrder, DecimalSign, day_or_none, guessed_order, guessed_sign, is_money

SAMPLE = 200  # lines that a guess looks at
ENOUGH = 0.8  # the share of a column's cells that must be dates, or amounts, to take it for one

# What headings say, the surest first; without accents and in small letters. English, German, French, Spanish.
WORDS = {
    "date": "date,booking date,transaction date,posting date,completed date,buchungstag,buchungsdatum,datum,"
    "date operation,date comptable,fecha,fecha operacion,value date,valuta,wertstellung,started date",
    "amount": "amount,betrag,montant,importe,umsatz,amount eur,betrag eur,net amount,net,value,sum,total",
    "debit": "debit,debit amount,money out,paid out,withdrawal,withdrawals,soll,belastung,ausgang,cargo",
    "credit": "credit,credit amount,money in,paid in,deposit,deposits,haben,gutschrift,eingang,abono",
    "from_to": "from to,von an,payee,payer,counterparty,counterparty name,partner name,auftraggeber empfanger,"
    "beguenstigter zahlungspflichtiger,begunstigter zahlungspflichtiger,zahlungsbeteiligter,empfanger,"
    "zahlungspflichtiger,begunstigter,beguenstigter,auftraggeber,beneficiary,recipient,merchant,name,tiers,contraparte",
    "description": "description,beschreibung,details,purpose,narrative,memo,verwendungszweck,buchungstext,libelle,"
    "concepto,payment reference,reference text,subject,text,reference",
    "currency": "currency,amount currency,wahrung,waehrung,devise,moneda,divisa,ccy",
    "external_id": "external id,externe id,transaction id,transaction reference,reference number,bank reference,"
    "transaktionsnummer,uid,id",
    "notes": "notes,note,comment,comments,kommentar,bemerkung,notiz,notizen,commentaire,nota",
}
FIELDS = tuple(WORDS)


@dataclass(frozen=True, slots=True)
class Columns:
    """How a table is read: the position of each field's column, the line of its headings (0: it has none), and how
    dates and amounts are written."""

    headings: int = 1
    places: dict[str, int] = field(default_factory=dict)
    date_order: DateOrder = DateOrder.ISO
    decimal_sign: DecimalSign = DecimalSign.POINT
    flip_sign: bool = False

    def rows(self, lines: Iterable[Line]) -> list[Line]:
        """The lines behind the headings."""
        return [line for line in lines if line.number > self.headings]

    @property
    def last(self) -> int:
        """The position of the last column without which a row says nothing."""
        return max(
            (self.places[name] for name in ("date", "amount", "debit", "credit") if name in self.places), default=0
        )


def names_of(lines: Sequence[Line], headings: int, *, unnamed: str = "Column {letters}") -> list[str]:
    """What the columns are called: by their headings, or by letters as in a spreadsheet; as many as most lines have.
    ``unnamed`` is how people read the second.

    >>> names_of([Line(1, ["Date", ""]), Line(2, ["1", "2", "3"]), Line(3, ["1", "2", "3"])], 1)
    ['Date', 'Column B', 'Column C']
    """
    heads = next((line.cells for line in lines if line.number == headings), [])
    width = max(usual_width([len(line.cells) for line in lines[:SAMPLE]]), len(heads))
    known = heads + [""] * (width - len(heads))
    return [name or unnamed.format(letters=letters(place)) for place, name in enumerate(known)]


def letters(place: int) -> str:
    """A, B, … Z, AA, AB …

    >>> letters(0), letters(25), letters(26)
    ('A', 'Z', 'AA')
    """
    found = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        found = chr(65 + rest) + found
    return found


# ---------------------------------------------------------------------------------------------- guessing


def guessed(lines: Sequence[Line]) -> Columns:
    """How a table is probably to be read."""
    if not lines:
        return Columns()
    first = first_of_usual_width(lines)
    headings = lines[first].number if is_heading(lines[first]) else 0
    columns = Columns(headings=headings or lines[first].number - 1)
    sample = columns.rows(lines)[:SAMPLE]
    places = by_words(lines[first].cells) if headings else {}
    places = by_data(places, sample)
    return written(replace(columns, headings=headings, places=places), sample)


def names_in_export(lines: Sequence[Line], headers: Iterable[Mapping[str, str]]) -> Mapping[str, str] | None:
    """What the columns are called where the table is our own export; ``headers`` says it by field, by language."""
    heads = set(lines[0].cells) if lines else set()
    return next((header for header in headers if heads.issuperset(header.values())), None)


def of_export(lines: Sequence[Line], headers: Iterable[Mapping[str, str]]) -> Columns | None:
    """How our own export is read, whatever has been kept of other files: its last column is our id, not the bank's."""
    header = names_in_export(lines, headers)
    if header is None:
        return None
    places = {name: lines[0].cells.index(header[name]) for name in FIELDS if name in header}
    columns = Columns(lines[0].number, places)
    sample = columns.rows(lines)[:SAMPLE]
    untouched = all(day_or_none(cell, DateOrder.ISO) for cell in cells_of(sample, places["date"]))
    return columns if untouched else written(columns, sample)  # a spreadsheet has saved it in its own way


def accounts_in_export(lines: Sequence[Line], headers: Iterable[Mapping[str, str]]) -> list[str]:
    """The accounts whose transactions our own export has, by name; none in other tables."""
    header = names_in_export(lines, headers)
    return sorted(set(cells_of(lines[1:], lines[0].cells.index(header["account"])))) if header else []


def written(columns: Columns, sample: Sequence[Line]) -> Columns:
    """The columns with the way in which their dates and amounts are written, as far as the sample tells."""
    dates = cells_of(sample, columns.places.get("date"))
    amounts = [cell for name in ("amount", "debit", "credit") for cell in cells_of(sample, columns.places.get(name))]
    return replace(columns, date_order=guessed_order(dates), decimal_sign=guessed_sign(amounts))


def is_heading(line: Line) -> bool:
    """Whether a line names columns: no cell of it is a date or an amount."""
    return not any(is_date(cell) or is_amount(cell) for cell in line.cells)


def by_words(headings: Sequence[str]) -> dict[str, int]:
    """Field → position, from what the headings say; no column twice.

    >>> by_words(["Buchungstag", "Begünstigter/Zahlungspflichtiger", "Verwendungszweck", "Betrag (EUR)"])
    {'date': 0, 'from_to': 1, 'description': 2, 'amount': 3}
    >>> by_words(["Datum", "Auftraggeber", "Betrag"])
    {'date': 0, 'from_to': 1, 'amount': 2}
    """
    plain = [plainly(heading) for heading in headings]
    found: dict[str, int] = {}
    for alike in (exactly, within):
        for name, words in WORDS.items():
            free = [place for place in range(len(plain)) if place not in found.values()]
            if name not in found and (place := alike(words.split(","), plain, free)) is not None:
                found[name] = place
    if "amount" in found:
        found.pop("debit", None)
        found.pop("credit", None)
    return dict(sorted(found.items(), key=lambda pair: pair[1]))


def exactly(words: list[str], plain: Sequence[str], free: list[int]) -> int | None:
    return next((place for word in words for place in free if plain[place] == word), None)


def within(words: list[str], plain: Sequence[str], free: list[int]) -> int | None:
    """The same for headings that say more, such as "Amount in EUR"; short words stand in too many others."""
    long = [word for word in words if len(word) > 2]
    return next((place for word in long for place in free if f" {word} " in f" {plain[place]} "), None)


def plainly(heading: str) -> str:
    """Small letters without accents, other characters as single blanks."""
    letters_only = bare(heading.lower()).encode("ascii", "ignore").decode()
    return " ".join(re.findall(r"[a-z0-9]+", letters_only))


def by_data(places: dict[str, int], sample: Sequence[Line]) -> dict[str, int]:
    """The date and the amount by what the cells look like, where the headings do not name them."""
    found = dict(places)
    if "date" not in found:
        free = free_columns(found, sample)
        dates = [place for place in free if mostly(is_date, cells_of(sample, place))]
        found |= {"date": dates[0]} if dates else {}
    if not {"amount", "debit", "credit"} & set(found):
        amounts = [place for place in free_columns(found, sample) if mostly(is_amount, cells_of(sample, place))]
        if amounts:
            found["amount"] = max(amounts, key=lambda place: cents_in(cells_of(sample, place)))
    return found


def free_columns(found: dict[str, int], sample: Sequence[Line]) -> list[int]:
    width = max((len(line.cells) for line in sample), default=0)
    return [place for place in range(width) if place not in found.values()]


def cells_of(lines: Sequence[Line], place: int | None) -> list[str]:
    """A column's cells that have anything in them."""
    if place is None:
        return []
    return [cells[place] for line in lines if place < len(cells := line.cells) and cells[place]]


def mostly(test: Any, cells: Sequence[str]) -> bool:
    return bool(cells) and sum(map(test, cells)) >= ENOUGH * len(cells)


def is_date(text: str) -> bool:
    return any(day_or_none(text, order) for order in DateOrder)


def is_amount(text: str) -> bool:
    return any(is_money(text, sign) for sign in DecimalSign)


def cents_in(cells: Sequence[str]) -> int:
    """How many of the cells are written with cents: amounts are, numbers of documents are not."""
    return sum(cell[-3:-2] in (".", ",") for cell in cells)


# ---------------------------------------------------------------------------------------------- kept for the next file


def to_keep(columns: Columns, names: Sequence[str]) -> dict[str, Any]:
    """What is worth keeping for the next file, as JSON: columns by their headings, or by position without any."""
    return {
        "headings": columns.headings,
        "columns": {name: names[place] if columns.headings else place for name, place in columns.places.items()},
        "dateOrder": columns.date_order.value,
        "decimalSign": columns.decimal_sign.value,
        "flipSign": columns.flip_sign,
    }


def from_kept(kept: Any, lines: Sequence[Line]) -> Columns | None:
    """Columns as they were kept, where this file has all of them; None for anything else, and for other JSON."""
    if not isinstance(kept, dict) or not isinstance(kept.get("columns"), dict):
        return None
    headings = kept.get("headings")
    if not isinstance(headings, int) or isinstance(headings, bool) or headings < 0:
        return None
    names = names_of(lines, headings)
    places = {name: place_of(value, names) for name, value in kept["columns"].items() if name in FIELDS}
    orders, signs = {each.value: each for each in DateOrder}, {each.value: each for each in DecimalSign}
    order, sign = orders.get(str(kept.get("dateOrder"))), signs.get(str(kept.get("decimalSign")))
    if not places or order is None or sign is None or None in places.values():
        return None
    known = {name: place for name, place in places.items() if place is not None}
    return Columns(headings, known, order, sign, flip_sign=kept.get("flipSign") is True)


def place_of(value: Any, names: Sequence[str]) -> int | None:
    if isinstance(value, str):
        return names.index(value) if value in names else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names) else None

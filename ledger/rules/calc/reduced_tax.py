"""Payments with the reduced VAT rate, where the law is clear and the texts say what was bought.

Germany: § 12 (2) UStG. Tickets for trains and local transport (no. 10), nights in hotels without breakfast (no. 11),
books and newspapers (no. 1 with annex 2 no. 49), taxi rides up to 50 km (no. 10), which most are. Bills of hotels that
do not say it may have breakfast, except those of Motel One as a rule; flights have other rates, and what was bought
abroad has the VAT of that country.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from ledger.rules.calc.countries import COUNTRY_WORDS, Countries
from ledger.rules.calc.payment_kind_matcher import extract_payment_words, matches_signs
from ledger.rules.calc.payment_kinds import (
    BOOKSHOP_NAMES,
    BOOKSHOP_STARTS,
    EMPLOYEE_TICKETS,
    LOCAL_TRANSPORT_NAMES,
    LOCAL_TRANSPORT_STARTS,
    KindSigns,
    PaymentKind,
    build_signs,
    extract_kind_words,
)


class ReducedTax(NamedTuple):
    """A country's reduced VAT rate in percent, and the signs of payments that have it."""

    percent: Decimal
    signs: tuple[KindSigns, ...]


MIXED_TICKET_WORDS = ("Bordbistro", "Bordrestaurant", "Bordgastronomie", "Parken", "Parkplatz", "Call a Bike")
MIXED_STAY_WORDS = (
    *("Frühstück", "breakfast", "Halbpension", "Vollpension", "Minibar", "Bar", "Restaurant", "Tagung", "Seminar"),
    *("Tagungspauschale", "Parken", "Parkplatz", "Garage"),
)
OTHER_GOODS_WORDS = ("Gutschein", "Geschenkkarte", "Spielwaren", "Schreibwaren", "tolino", "Reader", "voucher")
REDUCED_TAXES = {
    "DE": ReducedTax(
        Decimal(7),
        (
            build_signs(
                PaymentKind.TRAVEL,
                names=("Deutsche Bahn", "DB AG", "BahnCard", *LOCAL_TRANSPORT_NAMES),
                except_texts=MIXED_TICKET_WORDS,
            ),
            build_signs(
                PaymentKind.TRAVEL,
                name_starts=("DB Vertrieb", "DB Fernverkehr", *LOCAL_TRANSPORT_STARTS),
                except_texts=MIXED_TICKET_WORDS,
            ),
            build_signs(
                PaymentKind.TRAVEL,
                name_words=("Taxi",),
                except_texts=("Kurier", "Kurierfahrt", "Botenfahrt", "Transport", "Mietwagen"),
            ),
            build_signs(
                PaymentKind.TRAVEL,
                name_starts=("Motel One",),
                except_texts=MIXED_STAY_WORDS,
            ),
            build_signs(
                PaymentKind.TRAVEL,
                texts=EMPLOYEE_TICKETS,
                is_billed=True,
            ),
            build_signs(
                PaymentKind.TRAVEL,
                texts=("Übernachtung", "Übernachtungen"),
                except_texts=MIXED_STAY_WORDS,
                is_billed=True,
            ),
            build_signs(PaymentKind.BOOKS, names=BOOKSHOP_NAMES, except_texts=OTHER_GOODS_WORDS),
            build_signs(PaymentKind.BOOKS, name_starts=BOOKSHOP_STARTS, except_texts=OTHER_GOODS_WORDS),
            build_signs(
                PaymentKind.BOOKS,
                texts=(
                    *("Fachbuch", "Fachbücher", "Fachzeitschrift", "Fachzeitschriften", "Zeitungsabo"),
                    "Zeitschriftenabo",
                ),
                is_billed=True,
            ),
        ),
    )
}
REDUCED_KINDS = frozenset(signs.kind for tax in REDUCED_TAXES.values() for signs in tax.signs)
# First words of portals that sell for others, from abroad.
TRAVEL_PORTALS = frozenset(extract_kind_words("airbnb booking expedia hrs trainline"))
PLACE_COUNTRIES = COUNTRY_WORDS | {
    word: frozenset([country])
    for country, words in (
        ("AT", "wien vienna salzburg innsbruck graz klagenfurt bregenz"),
        ("CH", "zürich zurich basel bern genf geneva lausanne luzern winterthur lugano"),
        ("FR", "paris lyon straßburg strasbourg nizza"),
        ("GB", "london manchester edinburgh"),
        ("NL", "amsterdam rotterdam utrecht"),
        ("BE", "brüssel brussels bruxelles antwerpen"),
        ("IT", "rom mailand milano venedig bozen"),
        ("ES", "madrid barcelona mallorca"),
        ("PL", "warschau warszawa krakau breslau"),
        ("CZ", "prag praha"),
        ("DK", "kopenhagen copenhagen"),
        ("SE", "stockholm"),
        ("IE", "dublin"),
        ("PT", "lissabon lisbon porto"),
        ("HU", "budapest"),
        ("LU", "luxemburg"),
        ("US", "york francisco"),
    )
    for word in extract_kind_words(words)
}


def has_place_abroad(countries: Countries, words: Iterable[str]) -> bool:
    """Whether one of the words is a country or city outside of the countries.

    >>> has_place_abroad(frozenset(["DE"]), ("media", "markt", "wien"))
    True
    """
    return any(countries.isdisjoint(PLACE_COUNTRIES.get(word, countries)) for word in words)


def find_reduced_percent(country: str, kind: PaymentKind | None, *, from_to: str, description: str) -> Decimal | None:
    """Return the reduced rate of a payment of a company in a country; None if the texts leave it open.

    >>> find_reduced_percent("DE", PaymentKind.TRAVEL, from_to="DB Vertrieb GmbH", description="Bahn-Tickets")
    Decimal('7')
    >>> find_reduced_percent("DE", PaymentKind.TRAVEL, from_to="Hotel Bristol", description="Rechnung 7")
    """
    tax = REDUCED_TAXES.get(country)
    if tax is None or kind not in REDUCED_KINDS:
        return None
    name, text = extract_payment_words(from_to, description)
    if has_place_abroad(frozenset([country]), (*name, *text)) or not TRAVEL_PORTALS.isdisjoint((name or text)[:1]):
        return None
    has_signs = any(signs.kind == kind and matches_signs(signs, name, text, is_incoming=False) for signs in tax.signs)
    return tax.percent if has_signs else None

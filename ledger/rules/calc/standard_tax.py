"""The VAT rate that a payment usually includes, where no earlier transaction of its counterparty says it.

A wrong rate costs more than none: where the texts leave it open, nothing is suggested. Rent, travel and meals have
several rates; `reduced_tax.py` says which payments have the reduced one. Insurance, banks and postal services are
exempt. Suppliers abroad charge no VAT (Directive 2006/112/EC, articles 44 and 196).
"""

import re
from collections.abc import Collection
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from ledger.rules.calc.countries import Countries, find_name_countries
from ledger.rules.calc.parties import find_phrase_places
from ledger.rules.calc.payment_kinds import REVENUE_KINDS, PaymentKind, extract_kind_words, to_phrases
from ledger.rules.calc.reduced_tax import REDUCED_KINDS, find_reduced_percent, has_place_abroad
from ledger.rules.calc.rule_matcher import fold_text

# Sold across borders as a rule: the standard rate needs a sign that the supplier is in the company's country.
# Small businesses, which many freelancers are, charge none.
CROSS_BORDER_KINDS = frozenset(
    [
        *(PaymentKind.HOSTING, PaymentKind.DEVELOPMENT_SOFTWARE, PaymentKind.OFFICE_SOFTWARE),
        PaymentKind.FREELANCERS,
    ]
)
TAXED_KINDS = CROSS_BORDER_KINDS | {
    PaymentKind.TELECOM,
    PaymentKind.OFFICE_SUPPLIES,
    PaymentKind.CLEANING,
    PaymentKind.VEHICLE,
    PaymentKind.ENERGY,
    PaymentKind.ADVERTISING,
    PaymentKind.RECRUITING,
    PaymentKind.LEGAL_ADVICE,
    PaymentKind.TAX_ADVICE,
    PaymentKind.PROFESSIONAL_SERVICES,
}
UNTAXED_LINES = frozenset(["no", "neutral"])
UNTAXED_PHRASES = to_phrases(["Kfz-Steuer", "Kraftfahrzeugsteuer", "vehicle tax", "road tax"])
# First words of the names of payment providers.
PAYMENT_PROVIDERS = frozenset(extract_kind_words("stripe gocardless mollie adyen paddle paypal klarna sumup"))
# First words of the names of marketplaces: branches with VAT numbers in other countries sell there, sellers too.
MARKETPLACES = frozenset(["amazon", "amzn"])
IBAN_IN_TEXT = re.compile(r"(?<!\w)([A-Z]{2})[0-9]{2}(?: ?[0-9A-Z]{4}){3}", re.IGNORECASE)
MAX_STATED_PERCENT = Decimal(30)
_TAX_WORD = r"(?:mwst|mehrwertsteuer|ust|umsatzsteuer|vorsteuer|vat|tva|iva|btw|moms|mva|alv|podatek vat|dph|afa)(?!\w)"
_PERCENT = r"([0-9]{1,3}(?:[.,][0-9]{1,2})?) ?(?:%|prozent|percent)"
STATED_PERCENT_PATTERN = re.compile(
    rf"(?<![0-9.,]){_PERCENT} ?(?:ges\w*\.? )?{_TAX_WORD}|(?<!\w){_TAX_WORD}[.:]*[ (]*(?:von )?{_PERCENT}"
)


class TaxBasis(StrEnum):
    """Why a tax rate is suggested, or none."""

    HISTORY = "history"
    STANDARD = "standard"
    REDUCED = "reduced"
    STATED = "stated"
    ABROAD = "abroad"


class TaxSuggestion(NamedTuple):
    """A suggested tax rate in percent; None for no tax."""

    percent: Decimal | None
    basis: TaxBasis


class TaxSettings(NamedTuple):
    """A company's standard VAT rate in percent, not zero, and the countries that it may be in; empty if unknown."""

    standard_percent: Decimal
    countries: Countries


def find_standard_tax(
    settings: TaxSettings,
    *,
    from_to: str,
    description: str,
    is_incoming: bool,
    pl_type: str,
    kind: PaymentKind | None,
) -> TaxSuggestion | None:
    """Return the tax of a payment that is categorized on a P&L line; None if the texts leave it open.

    A single rate in the text comes first. Else revenue from customers and kinds of payments that include VAT have
    the standard rate, or the reduced one where the texts say so, unless the other party is abroad.

    >>> german = TaxSettings(Decimal(19), frozenset(["DE"]))
    >>> cleaning = {"description": "Büroreinigung", "is_incoming": False, "pl_type": "ga", "kind": PaymentKind.CLEANING}
    >>> find_standard_tax(german, from_to="Sauber GmbH", **cleaning).percent
    Decimal('19')
    >>> find_standard_tax(german, from_to="Clean Office Ltd", **cleaning).basis.value
    'abroad'
    """
    if pl_type in UNTAXED_LINES:
        return None
    if stated_percents := find_stated_percents(f"{from_to} {description}"):
        return choose_stated_tax(stated_percents)
    party_countries = find_name_countries(from_to or description)
    if kind in REDUCED_KINDS and not is_incoming and pl_type != "revenue":
        return find_reduced_tax(settings, party_countries, kind, from_to=from_to, description=description)
    if not usually_includes_tax(kind, from_to, description, is_incoming=is_incoming, pl_type=pl_type):
        return None
    if not party_countries:
        is_open = kind in CROSS_BORDER_KINDS and not (
            kind == PaymentKind.FREELANCERS and has_iban_of(settings.countries, f"{from_to} {description}")
        )
        is_open |= bool(settings.countries) and has_place_abroad(
            settings.countries, extract_kind_words(from_to or description)
        )
        return None if is_open else TaxSuggestion(settings.standard_percent, TaxBasis.STANDARD)
    if not settings.countries:
        return None
    if settings.countries & party_countries:
        return TaxSuggestion(settings.standard_percent, TaxBasis.STANDARD)
    is_marketplace = not MARKETPLACES.isdisjoint(extract_kind_words(from_to or description)[:1])
    return None if is_marketplace and kind == PaymentKind.OFFICE_SUPPLIES else TaxSuggestion(None, TaxBasis.ABROAD)


def has_iban_of(countries: Countries, text: str) -> bool:
    """Whether a text has the number of a bank account in one of the countries.

    >>> has_iban_of(frozenset(["DE"]), "Honorar 10/26 IBAN DE89 3704 0044 0532 0130 00, USt-IdNr. ATU12345678")
    True
    """
    return any(match[1].upper() in countries for match in IBAN_IN_TEXT.finditer(text))


def find_reduced_tax(
    settings: TaxSettings, party_countries: Countries, kind: PaymentKind | None, *, from_to: str, description: str
) -> TaxSuggestion | None:
    """Return the reduced rate of the company's country; None if it is not known, or the other party is abroad."""
    if len(settings.countries) != 1 or (party_countries and not settings.countries & party_countries):
        return None
    (country,) = settings.countries
    percent = find_reduced_percent(country, kind, from_to=from_to, description=description)
    return TaxSuggestion(percent, TaxBasis.REDUCED) if percent else None


def usually_includes_tax(
    kind: PaymentKind | None, from_to: str, description: str, *, is_incoming: bool, pl_type: str
) -> bool:
    """Whether payments of a kind include VAT at the standard rate, in one country.

    Payouts of payment providers do not: their fees are deducted, and the customers may be anywhere.
    """
    words = extract_kind_words(description)
    if is_incoming and pl_type == "revenue":
        is_payout = not PAYMENT_PROVIDERS.isdisjoint(extract_kind_words(from_to)[:1] or words[:1])
        return (kind is None or kind in REVENUE_KINDS) and not is_payout
    is_untaxed = any(find_phrase_places(words, phrase) for phrase in UNTAXED_PHRASES)
    return not is_incoming and pl_type != "revenue" and kind in TAXED_KINDS and not is_untaxed


def choose_stated_tax(stated_percents: Collection[Decimal]) -> TaxSuggestion | None:
    """Return the tax of a text that states rates; None if it states several, or none that is possible."""
    percents = [percent for percent in stated_percents if 0 < percent <= MAX_STATED_PERCENT]
    is_single = len(percents) == len(stated_percents) == 1
    return TaxSuggestion(percents[0], TaxBasis.STATED) if is_single else None


def find_stated_percents(text: str) -> set[Decimal]:
    """Return the tax rates that a text states.

    >>> find_stated_percents("Rechnung 7, inkl. 19 % MwSt."), find_stated_percents("VAT 20%")
    ({Decimal('19')}, {Decimal('20')})
    >>> find_stated_percents("Rabatt 19 %, USt-IdNr. DE123456789")
    set()
    """
    matches = STATED_PERCENT_PATTERN.finditer(fold_text(text))
    return {Decimal((match[1] or match[2]).replace(",", ".")) for match in matches}

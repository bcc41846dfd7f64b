"""Decide which side of an invoice is one's own, and whether two names are those of one party."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ledger.calc.text_normalization import fold_words, strip_accents

# Words at the end of a name that say its legal form, without dots.
LEGAL_FORMS = frozenset(
    {
        *("ab", "ag", "aps", "as", "asa", "bv", "bvba", "co", "company", "corp", "corporation", "doo", "eg", "ek"),
        *("eood", "ev", "gbr", "gmbh", "inc", "incorporated", "kft", "kg", "kgaa", "limited", "llc", "llp", "ltd"),
        *("mbh", "nv", "oe", "og", "ohg", "oy", "oyj", "plc", "pty", "sa", "sarl", "sas", "sasu", "sca", "se", "sl"),
        *("slu", "spa", "sro", "srl", "ug", "zrt"),
    }
)
WORDS = re.compile(r"\w+")
MIN_WORD_LENGTH = 3  # of a word that tells one name from another


@dataclass(frozen=True, slots=True)
class InvoiceParty:
    """Seller or buyer as an invoice names them; empty where it does not."""

    name: str = ""
    trading_name: str = ""
    vat_id: str = ""
    iban: str = ""


@dataclass(frozen=True, slots=True)
class OwnIdentity:
    """What a company is known by; use `build_own_identity`."""

    names: frozenset[str]
    identifiers: frozenset[str]  # VAT ids and account numbers


def build_own_identity(*, names: Iterable[str], identifiers: Iterable[str]) -> OwnIdentity:
    """Return names and identifiers in the form in which they are compared."""
    return OwnIdentity(
        frozenset(filter(None, map(normalize_party_name, names))), frozenset(filter(None, map(fold_words, identifiers)))
    )


def normalize_party_name(name: str) -> str:
    """Return a name without accents, case, punctuation and legal form.

    >>> normalize_party_name("Müller & Söhne GmbH + Co. KG"), normalize_party_name("My Supplier Company N.V.")
    ('muller sohne', 'my supplier')
    """
    words = WORDS.findall(strip_accents(name).casefold().replace(".", ""))
    while len(words) > 1 and words[-1] in LEGAL_FORMS:
        words.pop()
    return " ".join(words)


def is_party_named(party: str, text: str) -> bool:
    """Whether a text has a word of a name, or all of it however it is spaced and punctuated.

    >>> is_party_named("Harbour Legal LLP", "HARBOUR-LEGAL London"), is_party_named("Harbour Legal", "HARBOURLEGAL.COM")
    (True, True)
    >>> is_party_named("Harbour Legal", "Stadtwerke Berlin")
    False
    """
    name = normalize_party_name(party)
    words = {word for word in name.split() if len(word) >= MIN_WORD_LENGTH} or set(name.split())
    return not words.isdisjoint(normalize_party_name(text).split()) or fold_words(name) in fold_words(
        strip_accents(text)
    )


def find_invoice_direction(
    own: OwnIdentity, *, seller: InvoiceParty, buyer: InvoiceParty
) -> Literal["in", "out"] | None:
    """Return `in` where the company is the seller, `out` where it is the buyer, None where neither or both are.

    VAT ids and account numbers decide before names.
    """
    for is_own in (has_own_identifier, has_own_name):
        is_seller, is_buyer = is_own(own, seller), is_own(own, buyer)
        if is_seller != is_buyer:
            return "in" if is_seller else "out"
    return None


def has_own_identifier(own: OwnIdentity, party: InvoiceParty) -> bool:
    return not own.identifiers.isdisjoint({fold_words(party.vat_id), fold_words(party.iban)})


def has_own_name(own: OwnIdentity, party: InvoiceParty) -> bool:
    return not own.names.isdisjoint({normalize_party_name(party.name), normalize_party_name(party.trading_name)})

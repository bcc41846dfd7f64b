"""What kind of payment a transaction is, by the words of its texts.

Whole words are compared, without case, accents and punctuation. The name of a vendor must be the whole name: "AWS
EMEA SARL" is Amazon, "AWS Schmidt & Söhne" is not. A few names are no other company's: they may be followed by
anything, as on card statements ("GITHUB.COM 4711 SAN FRANCISCO"). No kind is better than a wrong one.
"""

from collections.abc import Iterable

from ledger.rules.calc.booking_phrases import remove_booking_phrases
from ledger.rules.calc.parties import LEGAL_FORMS, Tokens, find_phrase_places
from ledger.rules.calc.payment_kind_signs import KIND_SIGNS
from ledger.rules.calc.payment_kinds import (
    MAX_TEXT_LENGTH,
    SHARED_PAYEE_KINDS,
    SINGLE_TAXES,
    KindSigns,
    PaymentKind,
    extract_kind_words,
)

# Words beside the whole name of a vendor that do not make it another name.
COMPANION_WORDS = frozenset(
    [
        *LEGAL_FORMS,
        *(
            "mbh",
            "eg",
            "co",
            "pty",
            "kgaa",
            "emea",
            "europe",
            "eu",
            "international",
            "ireland",
            "deutschland",
            "germany",
        ),
        *("luxembourg", "uk", "us", "usa", "com", "de", "payments", "operations", "services", "online", "cloud"),
        *("unlimited", "company"),
        *(
            "versicherung",
            "versicherungs",
            "versicherungen",
            "die",
            "gesundheitskasse",
            "gesundheit",
            "hauptverwaltung",
        ),
        *("bayern", "plus", "nordost", "nordwest", "hessen", "niedersachsen", "rheinland", "hamburg", "bremen"),
        *("baden", "wurttemberg", "sachsen", "anhalt", "pfalz", "saarland"),
    ]
)
# Words after a distinctive name that make it another business.
OTHER_BUSINESS_WORDS = frozenset(
    [
        *("technik", "systems", "cargo", "industry", "immobilien", "direkt", "modellbau", "shop", "worldshop"),
        *("consulting", "beratung", "agentur", "agency", "partner", "training", "schulung", "software"),
    ]
)
BILL_WORDS = frozenset(["rechnung", "rechnungsnummer", "invoice"])
# A bill for salaries, taxes or rent is not a salary, tax or rent; nor is money that comes back.
DOUBT_WORDS = frozenset(
    [
        *(*BILL_WORDS, "beratung", "consulting", "software", "makler", "maklers", "broker"),
        *("erstattung", "ruckerstattung", "ruckzahlung", "refund", "kaution", "deposit", "gutschrift", "storno"),
        *("car", "restaurant", "cafe", "hotel"),
    ]
)
BANK_NAME_ENDINGS = ("bank", "sparkasse")
SEVERAL_KINDS = SHARED_PAYEE_KINDS | {PaymentKind.TAX}
REVERSAL_WORDS = frozenset(
    ["erstattung", "ruckerstattung", "ruckzahlung", "refund", "gutschrift", "storno", "rucklastschrift"]
)


def is_several_kinds_payee(from_to: str, kind: PaymentKind | None) -> bool:
    """Whether payments to a payee are of several kinds, so that its name does not say the kind of the next one.

    Tax offices and banks.

    >>> is_several_kinds_payee("Finanzamt Köln-Mitte", PaymentKind.TAX), is_several_kinds_payee("Sparkasse Köln", None)
    (True, True)
    """
    words = extract_kind_words(from_to)
    return kind in SEVERAL_KINDS or any(word.endswith(BANK_NAME_ENDINGS) for word in words)


def find_payment_kind(*, from_to: str, description: str, is_incoming: bool) -> PaymentKind | None:
    """Return the kind of a payment by its texts; None if they do not say it.

    A tax office that collects several taxes at once gets the general kind.

    >>> find_payment_kind(from_to="Anna Schneider", description="Gehalt Oktober", is_incoming=False).value
    'salary'
    >>> find_payment_kind(from_to="Mieter GmbH", description="Rechnung 7", is_incoming=False)
    """
    name, text = extract_payment_words(from_to, description)
    kinds = [signs.kind for signs in KIND_SIGNS if matches_signs(signs, name, text, is_incoming=is_incoming)]
    if len(SINGLE_TAXES.intersection(kinds)) > 1:
        return PaymentKind.TAX
    return kinds[0] if kinds else None


def extract_payment_words(from_to: str, description: str) -> tuple[Tokens, Tokens]:
    """Return the words of a name and of a description, without those on how the payment was made."""
    text = extract_kind_words(remove_booking_phrases(description[:MAX_TEXT_LENGTH]))
    return extract_kind_words(from_to[:MAX_TEXT_LENGTH]), text


def matches_signs(signs: KindSigns, name: Tokens, text: Tokens, *, is_incoming: bool) -> bool:
    """Whether the words of a name and of a description have all signs."""
    if signs.is_incoming not in (None, is_incoming):
        return False
    has_legal_form = not LEGAL_FORMS.keys().isdisjoint(name)
    if signs.has_no_legal_form and has_legal_form:
        return False
    if not matches_party(signs, name, text) or has_phrase(text, signs.except_texts):
        return False
    if not signs.texts:
        return True
    if signs.names or signs.name_starts or signs.name_words:
        return has_phrase(text, signs.texts)
    # The text alone says it.
    doubts = REVERSAL_WORDS if is_incoming else DOUBT_WORDS - BILL_WORDS if signs.is_billed else DOUBT_WORDS
    if text:
        return doubts.isdisjoint(text) and has_phrase(text, signs.texts)
    # Some banks give one text only, as the name. It begins with the kind; "Hans Lohn" is a person. The names of
    # customers may begin with any word ("Consulting Weber").
    return (
        signs.is_incoming is not True
        and not has_legal_form
        and doubts.isdisjoint(name)
        and has_start(name, signs.texts)
    )


def matches_party(signs: KindSigns, name: Tokens, text: Tokens) -> bool:
    """Whether the name has all signs of a name. Without one, the description begins with it, as on card statements."""
    party = name or text
    if signs.names and not any(is_whole_name(party, phrase) for phrase in signs.names):
        return False
    if signs.name_starts and not any(
        party[: len(phrase)] == phrase and OTHER_BUSINESS_WORDS.isdisjoint(party[len(phrase) :])
        for phrase in signs.name_starts
    ):
        return False
    if not signs.name_words:
        return True
    doubts = DOUBT_WORDS.difference(*signs.name_words)  # "Hotel" in the name of a hotel is no doubt
    return doubts.isdisjoint(party) and (has_phrase if name else has_start)(party, signs.name_words)


def is_whole_name(name: Tokens, phrase: Tokens) -> bool:
    """Whether a name is a phrase, beside words that any company may have."""
    return name[: len(phrase)] == phrase and all(word in COMPANION_WORDS for word in name[len(phrase) :])


def has_phrase(words: Tokens, phrases: Iterable[Tokens]) -> bool:
    return any(phrase[0] in words and find_phrase_places(words, phrase) for phrase in phrases)


def has_start(words: Tokens, phrases: Iterable[Tokens]) -> bool:
    return any(words[: len(phrase)] == phrase for phrase in phrases)

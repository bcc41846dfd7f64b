"""What kind of payment a transaction is, by the words of its texts.

Whole words are compared, without case, accents and punctuation. The name of a vendor must be the whole name: "AWS
EMEA SARL" is Amazon, "AWS Schmidt & Söhne" is not. No kind is better than a wrong one.
"""

from collections.abc import Iterable

from ledger.rules.calc.parties import LEGAL_FORMS, Tokens, find_phrase_places
from ledger.rules.calc.payment_kind_signs import COMPANION_WORDS, DOUBT_WORDS, KIND_SIGNS, REVERSAL_WORDS
from ledger.rules.calc.payment_kinds import SINGLE_TAXES, KindSigns, PaymentKind, extract_kind_words


def find_payment_kind(*, from_to: str, description: str, is_incoming: bool) -> PaymentKind | None:
    """Return the kind of a payment by its texts; None if they do not say it.

    A tax office that collects several taxes at once gets the general kind.

    >>> find_payment_kind(from_to="Anna Schneider", description="Gehalt Oktober", is_incoming=False).value
    'salary'
    >>> find_payment_kind(from_to="Mieter GmbH", description="Rechnung 7", is_incoming=False)
    """
    name, text = extract_kind_words(from_to), extract_kind_words(description)
    kinds = [signs.kind for signs in KIND_SIGNS if matches_signs(signs, name, text, is_incoming=is_incoming)]
    if len(SINGLE_TAXES.intersection(kinds)) > 1:
        return PaymentKind.TAX
    return kinds[0] if kinds else None


def matches_signs(signs: KindSigns, name: Tokens, text: Tokens, *, is_incoming: bool) -> bool:
    """Whether the words of a name and of a description have all signs."""
    if signs.is_incoming not in (None, is_incoming):
        return False
    has_legal_form = not LEGAL_FORMS.keys().isdisjoint(name)
    if signs.has_no_legal_form and has_legal_form:
        return False
    if signs.names and not any(is_whole_name(name, phrase) for phrase in signs.names):
        return False
    name_doubts = DOUBT_WORDS.difference(*signs.name_words)  # "Hotel" in the name of a hotel is no doubt
    if signs.name_words and (not name_doubts.isdisjoint(name) or not has_phrase(name, signs.name_words)):
        return False
    if not signs.texts:
        return True
    if signs.names or signs.name_words:
        return has_phrase(text, signs.texts)
    # The text alone says it.
    doubts = REVERSAL_WORDS if is_incoming else DOUBT_WORDS
    if text:
        return doubts.isdisjoint(text) and has_phrase(text, signs.texts)
    # Some banks give one text only, as the name. It begins with the kind; "Hans Lohn" is a person.
    return not has_legal_form and doubts.isdisjoint(name) and any(name[: len(each)] == each for each in signs.texts)


def is_whole_name(name: Tokens, phrase: Tokens) -> bool:
    """Whether a name is a phrase, beside words that any company may have."""
    return name[: len(phrase)] == phrase and all(word in COMPANION_WORDS for word in name[len(phrase) :])


def has_phrase(words: Tokens, phrases: Iterable[Tokens]) -> bool:
    return any(phrase[0] in words and find_phrase_places(words, phrase) for phrase in phrases)

"""Whether the other party of a transaction is the company itself, a third party, or not named; text comparison
only.

Texts are compared without case, accents and punctuation. Legal forms ("GmbH", "Ltd") do not count, unless
both names have one and they differ: "Acme GmbH" and "Acme Inc." are two companies.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ledger.rules.calc.rule_matcher import fold_text

# Words for a transfer between own accounts, folded (no accents), in the languages of the files that we read.
# Words for any payment ("Überweisung", "virement", "credit transfer") are not among them.
TRANSFER_WORDS = (
    *("transfer", "transfers", "internal transfer", "own account", "between accounts", "sweep", "fx conversion"),  # en
    *("umbuchung", "umbuchungen", "ubertrag", "uebertrag", "eigenubertrag", "eigenuebertrag"),  # de
    *("kontoubertrag", "kontouebertrag", "eigenes konto", "geldanlage"),  # de
    *("virement interne", "virement de compte a compte", "compte a compte"),  # fr
    *("traspaso", "traspasos", "entre cuentas", "entre contas"),  # es, pt
    *("giroconto", "trasferimento", "trasferimento fondi"),  # it
    *("eigen rekening", "interne overboeking"),  # nl
    *("egen overforing", "egen konto", "intern overforsel"),  # sv, no, da
    *("przelew wlasny", "przelew wewnetrzny"),  # pl
)
# Payments to anybody, and their fees, that contain such a word.
PAYMENT_PHRASES = (
    *("credit transfer", "bank transfer", "wire transfer", "sepa transfer", "giro transfer", "instant transfer"),
    *("transfer fee", "transfer fees", "transfer charge", "transfer charges"),
)
# Words for the settlement of a credit card, on either account. Some may be said of any payment, so they are a sign only
# where a text has nothing else.
SETTLEMENT_WORDS = (
    *("card settlement", "credit card settlement", "card payment", "credit card payment", "card statement"),  # en
    *("credit card statement", "payment received", "payment received thank you", "payment thank you"),  # en
    *("autopay", "autopay payment", "automatic payment", "thank you for your payment"),  # en
    *("kartenabrechnung", "kreditkartenabrechnung", "kreditkarten abrechnung", "kreditkarte abrechnung"),  # de
    *("abrechnung kreditkarte", "abrechnung kreditkarten", "abrechnung karte", "kreditkartenzahlung"),  # de
    *("abrechnung visa", "abrechnung mastercard", "abrechnung amex", "abrechnung american express"),  # de
    *("visa abrechnung", "mastercard abrechnung", "amex abrechnung", "american express abrechnung"),  # de
    *("zahlung kreditkarte", "ausgleich kreditkarte", "kreditkartenausgleich", "lastschrift kreditkarte"),  # de
    *("einzug", "einzug kreditkarte", "lastschrifteinzug", "zahlungseingang", "zahlung erhalten", "ihre zahlung"),  # de
    *("zahlung dankend erhalten", "zahlung erhalten danke", "zahlung erhalten vielen dank"),  # de
    *("zahlung uberweisung erhalten", "zahlung uberweisung erhalten besten dank", "uberweisung erhalten"),  # de
    *("zahlung ueberweisung erhalten", "zahlung ueberweisung erhalten besten dank", "ueberweisung erhalten"),  # de
    *("zahlung erhalten besten dank", "ihre zahlung vielen dank", "vielen dank fur ihre zahlung"),  # de
    *("reglement carte", "reglement carte bancaire", "reglement carte de credit", "paiement carte de credit"),  # fr
    *("prelevement carte", "prelevement carte de credit", "releve carte", "releve de carte", "debit differe"),  # fr
    *("paiement recu", "paiement recu merci"),  # fr
    *("liquidacion tarjeta", "liquidacion de tarjeta", "liquidacion tarjeta de credito", "recibo tarjeta"),  # es
    *("liquidacion de tarjeta de credito", "pago tarjeta de credito", "pago de tarjeta de credito"),  # es
    *("pago recibido", "pago recibido gracias"),  # es
    *("addebito carta", "addebito carta di credito", "saldo carta", "saldo carta di credito"),  # it
    *("pagamento carta di credito", "estratto conto carta", "estratto conto carta di credito"),  # it
    *("pagamento ricevuto", "pagamento ricevuto grazie"),  # it
    *("creditcardafrekening", "creditcard afrekening", "afrekening creditcard", "creditcardbetaling"),  # nl
    *("betaling creditcard", "incasso creditcard", "betaling ontvangen", "betaling ontvangen bedankt"),  # nl
)
# Words that name nobody: they occur beside the company's own name, or in place of a name.
FILLER_WORDS = frozenset(
    [
        *("to", "from", "for", "of", "the", "our", "own", "my", "and", "account", "acct", "savings", "current"),
        *("checking", "deposit", "an", "von", "vom", "zu", "zum", "auf", "der", "das", "die", "und", "unser"),
        *("eigen", "eigene", "eigener", "eigenes", "konto", "kto", "nr", "girokonto", "sparkonto", "tagesgeld"),
        *("festgeld", "a", "au", "de", "du", "vers", "compte", "cuenta", "conto", "rekening"),
        *("no", "iban", "bic", "ref"),
    ]
)
# Words that name nobody beside the settlement of a card: which card, and which month.
SETTLEMENT_FILLER_WORDS = frozenset(
    [
        *("visa", "mastercard", "amex", "american", "express", "card", "gold", "business", "kreditkarte", "karte"),
        *("januar", "februar", "marz", "maerz", "april", "mai", "juni", "juli", "august", "september", "oktober"),
        *("november", "dezember", "january", "february", "march", "may", "june", "july", "october", "december"),
    ]
)
LEGAL_FORMS = {
    form: forms[0]
    for forms in (
        ("gmbh",),
        ("ug", "unternehmergesellschaft"),
        ("ag", "aktiengesellschaft"),
        ("kg",),
        ("ohg",),
        ("gbr",),
        ("ev",),
        ("se",),
        ("ltd", "limited"),
        ("plc",),
        ("llp",),
        ("llc",),
        ("inc", "incorporated"),
        ("corp", "corporation"),
        ("sa",),
        ("sas",),
        ("sarl",),
        ("srl",),
        ("spa",),
        ("bv",),
        ("nv",),
        ("ab",),
        ("aps",),
        ("oy", "oyj"),
        ("kft",),
        ("doo",),
    )
    for form in forms
}
# Account names that are too generic to be a sign in a text.
GENERIC_ACCOUNT_NAMES = frozenset(
    ["main", "bank", "cash", "card", "account", "konto", "kasse", "giro", "banque", "banco", "eur", "usd", "gbp", "chf"]
)
MIN_NUMBER_LENGTH = 6  # of an account number that is looked for inside of texts
WORD_PATTERN = re.compile(r"\w+")
DOTTED_LETTERS_PATTERN = re.compile(r"\b(\w)\.(?=\w\b)")  # "S.A." and "B.V." are one word each

Tokens = tuple[str, ...]


def extract_words(text: str) -> Tokens:
    """Return the folded words of a text without punctuation.

    >>> extract_words("Müller & Söhne, S.A.")
    ('muller', 'sohne', 'sa')
    """
    return tuple(WORD_PATTERN.findall(DOTTED_LETTERS_PATTERN.sub(r"\1", fold_text(text)).replace("_", " ")))


def split_legal_form(words: Sequence[str]) -> tuple[Tokens, str | None]:
    """Return the words without a legal form at their end, and the form; a name that is only a form stays.

    >>> split_legal_form(("acme", "limited"))
    (('acme',), 'ltd')
    """
    if len(words) > 1 and words[-1] in LEGAL_FORMS:
        return tuple(words[:-1]), LEGAL_FORMS[words[-1]]
    return tuple(words), None


def normalize_account_number(text: str) -> str:
    """Return an account number without spaces and signs, folded.

    >>> normalize_account_number("DE89 3704-0044")
    'de8937040044'
    """
    return "".join(extract_words(text))


def find_phrase_places(words: Tokens, phrase: Tokens) -> list[range]:
    """Return where the words of a phrase occur one after the other."""
    size = len(phrase)
    if not size or phrase[0] not in words:
        return []
    return [
        range(start, start + size) for start in range(len(words) - size + 1) if words[start : start + size] == phrase
    ]


def find_account_number_places(words: Tokens, number: str) -> list[range]:
    """Return where an account number occurs, also written in groups."""
    places = []
    for start in range(len(words)):
        if not number.startswith(words[start]):
            continue
        joined = ""
        for end in range(start, len(words)):
            joined += words[end]
            if joined == number:
                places.append(range(start, end + 1))
            if len(joined) >= len(number):
                break
    return places


def index_phrases(texts: Iterable[str]) -> dict[str, list[Tokens]]:
    """Return the words of phrases by their first word, so that a text is compared with few of them."""
    phrases: dict[str, list[Tokens]] = {}
    for words in dict.fromkeys(map(extract_words, texts)):
        phrases.setdefault(words[0], []).append(words)
    return phrases


def find_any_phrase_places(words: Tokens, phrases: Mapping[str, list[Tokens]]) -> list[range]:
    """Return where phrases of an index occur."""
    return [
        place
        for word in dict.fromkeys(words)
        for phrase in phrases.get(word, ())
        for place in find_phrase_places(words, phrase)
    ]


TRANSFER_PHRASE_INDEX = index_phrases(TRANSFER_WORDS)
SETTLEMENT_PHRASE_INDEX = index_phrases(SETTLEMENT_WORDS)
PAYMENT_PHRASE_INDEX = index_phrases(PAYMENT_PHRASES)


class OwnAccount(NamedTuple):
    """An account of the company with the names and numbers that texts may use."""

    id: object
    name: str
    numbers: tuple[str, ...]  # account number, IBAN
    holder: str | None


class PartySigns(NamedTuple):
    """What the texts of a transaction say about its other party."""

    is_between_own_accounts: bool  # a sign that both sides are the company's
    third_party: Tokens  # the words that name somebody else; empty where nobody else is named


@dataclass(frozen=True)
class CompanyIdentity:
    """The names and numbers by which texts name the company and its accounts."""

    company_name: str
    accounts: tuple[OwnAccount, ...] = ()

    @cached_property
    def names(self) -> list[tuple[Tokens, str | None]]:
        """The names of the company and of its accounts' holders, each with its legal form."""
        texts = dict.fromkeys([self.company_name, *(account.holder or "" for account in self.accounts)])
        return [split_legal_form(words) for words in map(extract_words, texts) if words]

    @cached_property
    def numbers(self) -> list[tuple[object, str]]:
        """(account id, number) of all accounts."""
        pairs = [
            (account.id, normalize_account_number(number)) for account in self.accounts for number in account.numbers
        ]
        return [pair for pair in dict.fromkeys(pairs) if pair[1]]

    @cached_property
    def account_names(self) -> list[tuple[object, Tokens]]:
        """(account id, name) of all accounts whose name is not generic."""
        names = [(account.id, extract_words(account.name)) for account in self.accounts]
        return [
            (account_id, words)
            for account_id, words in names
            if len(words) > 1 or not set(words) <= GENERIC_ACCOUNT_NAMES
        ]

    def find_names(self, words: Tokens) -> list[range]:
        """Return where the company or a holder is named, but not with a legal form of another company."""
        places = []
        for name, form in self.names:
            for place in find_phrase_places(words, name):
                following = words[place.stop] if place.stop < len(words) else None
                other_form = LEGAL_FORMS.get(following) if following else None
                if other_form is None:
                    places.append(place)
                elif form is None or form == other_form:
                    places.append(range(place.start, place.stop + 1))
        return places

    def find_numbers(self, words: Tokens, *, except_account: object = None) -> list[range]:
        """Return where the number of an account other than ``except_account`` occurs."""
        return [
            place
            for account_id, number in self.numbers
            if except_account is None or account_id != except_account
            for place in find_account_number_places(words, number)
            if len(number) >= MIN_NUMBER_LENGTH or len(place) == len(words)  # a short one only as the whole text
        ]

    def find_account_names(self, words: Tokens, *, except_account: object = None) -> list[range]:
        """Return where an account other than ``except_account`` is named."""
        return [
            place
            for account_id, name in self.account_names
            if except_account is None or account_id != except_account
            for place in find_phrase_places(words, name)
        ]


def remove_words_at(words: Tokens, places: Iterable[range]) -> Tokens:
    covered = {index for place in places for index in place}
    return tuple(word for index, word in enumerate(words) if index not in covered)


def find_transfer_words(words: Tokens) -> list[range]:
    """Return where words such as "Umbuchung" occur, without phrases for any payment."""
    payments = {index for place in find_any_phrase_places(words, PAYMENT_PHRASE_INDEX) for index in place}
    places = find_any_phrase_places(words, TRANSFER_PHRASE_INDEX)
    return [place for place in places if payments.isdisjoint(place)]


def find_settlement_words(words: Tokens) -> list[range]:
    """Return where words such as "Kreditkartenabrechnung" occur."""
    return find_any_phrase_places(words, SETTLEMENT_PHRASE_INDEX)


def is_settlement_text(text: str, identity: CompanyIdentity) -> bool:
    """Whether a text says that a credit card is settled, and nothing else.

    >>> is_settlement_text("Kartenabrechnung 10/2026", CompanyIdentity("Acme GmbH"))
    True
    """
    return bool(find_settlement_words(extract_words(text))) and not find_third_party(text, identity)


def find_third_party(text: str, identity: CompanyIdentity) -> Tokens:
    """Return the words of a party's name that name somebody else than the company; empty where there are none.

    >>> identity = CompanyIdentity("Acme GmbH")
    >>> find_third_party("ACME GMBH", identity), find_third_party("Transfer to savings", identity)
    ((), ())
    >>> find_third_party("Acme Hosting Ltd", identity)
    ('acme', 'hosting')
    """
    words = extract_words(text)
    account_names = [(account.id, extract_words(account.name)) for account in identity.accounts]
    settlement_places = find_settlement_words(words)
    filler_words = FILLER_WORDS | SETTLEMENT_FILLER_WORDS if settlement_places else FILLER_WORDS
    known_places = [
        *identity.find_names(words),
        *identity.find_numbers(words),
        *(place for _, name in account_names for place in find_phrase_places(words, name)),
        *find_transfer_words(words),
        *settlement_places,
    ]
    other_words = [
        word for word in remove_words_at(words, known_places) if not word.isdigit() and word not in filler_words
    ]
    return split_legal_form(words)[0] if other_words else ()


def is_own_party(from_to: str, description: str, account_id: object, identity: CompanyIdentity) -> bool:
    """Whether the other party of a transaction is the company itself, an account holder or another account of it.

    The description counts only if ``from_to`` names nobody: a customer may write the company's name there too.
    """
    words, description_words = extract_words(from_to), extract_words(description)
    is_named = bool(identity.find_names(words) or identity.find_numbers(words, except_account=account_id))
    is_numbered_in_description = bool(identity.find_numbers(description_words, except_account=account_id))
    is_named_in_description = bool(identity.find_names(description_words))
    if not (is_named or is_numbered_in_description or is_named_in_description) or find_third_party(from_to, identity):
        return False
    return is_named or is_numbered_in_description or not find_third_party(description, identity)


def read_party_signs(from_to: str, description: str, account_id: object, identity: CompanyIdentity) -> PartySigns:
    """Return whether a text has a sign that the other party is the company's own, and which third party is named."""
    third_party = find_third_party(from_to, identity)
    own = any(
        identity.find_names(words)
        or identity.find_numbers(words, except_account=account_id)
        or identity.find_account_names(words, except_account=account_id)
        or find_transfer_words(words)
        for words in (extract_words(from_to), extract_words(description))
    )
    if not own and not third_party:
        own = is_settlement_text(from_to, identity) or is_settlement_text(description, identity)
    return PartySigns(own, third_party)


def is_same_party(first: Tokens, second: Tokens) -> bool:
    """Whether two names are of the same party: all words of one are in the other ("PayPal", "PayPal Europe")."""
    return set(first) <= set(second) or set(second) <= set(first)

"""The kinds of payments, and the signs by which texts say a kind."""

from collections.abc import Iterable
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from ledger.rules.calc.parties import Tokens, extract_words


class PaymentKind(StrEnum):
    SALARY = "salary"
    SOCIAL_SECURITY = "socialSecurity"
    WAGE_TAX = "wageTax"
    VAT = "vat"
    INCOME_TAX = "incomeTax"
    TAX = "tax"
    RENT = "rent"
    INSURANCE = "insurance"
    MEMBERSHIP = "membership"
    TELECOM = "telecom"
    POSTAGE = "postage"
    OFFICE_SUPPLIES = "officeSupplies"
    BOOKS = "books"
    CLEANING = "cleaning"
    VEHICLE = "vehicle"
    ENERGY = "energy"
    TRAVEL = "travel"
    ENTERTAINMENT = "entertainment"
    HOSTING = "hosting"
    DEVELOPMENT_SOFTWARE = "developmentSoftware"
    OFFICE_SOFTWARE = "officeSoftware"
    ADVERTISING = "advertising"
    RECRUITING = "recruiting"
    FREELANCERS = "freelancers"
    LEGAL_ADVICE = "legalAdvice"
    TAX_ADVICE = "taxAdvice"
    PROFESSIONAL_SERVICES = "professionalServices"
    BANK_FEES = "bankFees"
    PAYMENT_FEES = "paymentFees"
    INTEREST = "interest"
    LOAN = "loan"
    CARD_SETTLEMENT = "cardSettlement"
    CARD_PAYMENT_RECEIVED = "cardPaymentReceived"
    SUBSCRIPTION_REVENUE = "subscriptionRevenue"
    PROJECT_REVENUE = "projectRevenue"
    CUSTOMER_PAYMENT = "customerPayment"


# Public transport in Germany: local companies, and tickets that employers pay.
LOCAL_TRANSPORT_NAMES = ("BVG", "HVV", "KVB", "MVG", "Rheinbahn")
LOCAL_TRANSPORT_STARTS = (
    *("Berliner Verkehrsbetriebe", "Hamburger Hochbahn", "Kölner Verkehrs-Betriebe", "Münchner Verkehrsgesellschaft"),
    *(f"{name} {sale}" for name in LOCAL_TRANSPORT_NAMES for sale in ("App", "Ticket", "Tickets", "Automat")),
)
BOOKSHOP_NAMES = ("Thalia", "Hugendubel")
BOOKSHOP_STARTS = ("Thalia Buch", "Thalia Bücher", "Thalia Buchhandlung", "Thalia.de", "Hugendubel Buch", "Waterstones")
EMPLOYEE_TICKETS = ("Jobticket", "Jobtickets", "Deutschlandticket", "Deutschland-Ticket")
MAX_TEXT_LENGTH = 500  # characters of a description that suggestions read
VAGUE_KINDS = frozenset([PaymentKind.TAX])  # which say less than their category; never the primary suggestion
# Payments by customers whose texts say for what, and all of them.
NAMED_REVENUE_KINDS = frozenset([PaymentKind.SUBSCRIPTION_REVENUE, PaymentKind.PROJECT_REVENUE])
REVENUE_KINDS = NAMED_REVENUE_KINDS | {PaymentKind.CUSTOMER_PAYMENT}
SINGLE_TAXES = frozenset([PaymentKind.WAGE_TAX, PaymentKind.VAT, PaymentKind.INCOME_TAX])
# Kinds of which one payee, a tax office or a bank, has several: its name says little about the next payment.
SHARED_PAYEE_KINDS = SINGLE_TAXES | {PaymentKind.BANK_FEES, PaymentKind.INTEREST, PaymentKind.LOAN}
# The two sides of the settlement of a credit card: on the bank account, and on the card.
TRANSFER_KINDS = frozenset([PaymentKind.CARD_SETTLEMENT, PaymentKind.CARD_PAYMENT_RECEIVED])
# Kinds that recur with the same payee, so that one payment says what the next ones are.
STEADY_KINDS = frozenset(
    [
        *(PaymentKind.SALARY, PaymentKind.SOCIAL_SECURITY, PaymentKind.RENT, PaymentKind.INSURANCE),
        *(PaymentKind.MEMBERSHIP, PaymentKind.TELECOM, PaymentKind.CLEANING, PaymentKind.ENERGY),
        *(PaymentKind.HOSTING, PaymentKind.DEVELOPMENT_SOFTWARE, PaymentKind.OFFICE_SOFTWARE),
        *(PaymentKind.ADVERTISING, PaymentKind.FREELANCERS),
        *(PaymentKind.LEGAL_ADVICE, PaymentKind.TAX_ADVICE, PaymentKind.PROFESSIONAL_SERVICES),
    ]
)
KIND_CONFIDENCE, VAGUE_KIND_CONFIDENCE = Decimal("0.75"), Decimal("0.4")


def extract_kind_words(text: str) -> Tokens:
    """Return the words of a text, umlauts written either way.

    >>> extract_kind_words("Gehälter") == extract_kind_words("GEHAELTER")
    True
    """
    words = extract_words(text)
    return tuple(word.replace("ae", "a").replace("oe", "o").replace("ue", "u") for word in words)


def to_phrases(texts: Iterable[str]) -> tuple[Tokens, ...]:
    return tuple(extract_kind_words(text) for text in texts)


class KindSigns(NamedTuple):
    """Signs of a kind; all that are given must be there.

    ``names`` are whole names, beside legal forms and countries; ``name_starts`` are names that no other company begins
    with, whatever follows; ``name_words`` and ``texts`` are words within the name and the description.
    """

    kind: PaymentKind
    names: tuple[Tokens, ...] = ()
    name_starts: tuple[Tokens, ...] = ()
    name_words: tuple[Tokens, ...] = ()
    texts: tuple[Tokens, ...] = ()
    except_texts: tuple[Tokens, ...] = ()  # which the description must not have
    has_no_legal_form: bool = False  # a person or an authority, not a company
    is_billed: bool = False  # the text may say that it is a bill
    is_incoming: bool | None = False  # None: either direction


def build_signs(
    kind: PaymentKind,
    *,
    names: Iterable[str] = (),
    name_starts: Iterable[str] = (),
    name_words: Iterable[str] = (),
    texts: Iterable[str] = (),
    except_texts: Iterable[str] = (),
    has_no_legal_form: bool = False,
    is_billed: bool = False,
    is_incoming: bool | None = False,
) -> KindSigns:
    """Return the signs from phrases as people write them."""
    return KindSigns(
        kind,
        names=to_phrases(names),
        name_starts=to_phrases(name_starts),
        name_words=to_phrases(name_words),
        texts=to_phrases(texts),
        except_texts=to_phrases(except_texts),
        has_no_legal_form=has_no_legal_form,
        is_billed=is_billed,
        is_incoming=is_incoming,
    )

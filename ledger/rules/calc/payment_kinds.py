"""What kind of payment a transaction is, by the words of its texts, and the category that fits the kind.

Whole words are compared, without case, accents and punctuation. The name of a vendor must be the whole name: "AWS
EMEA SARL" is Amazon, "AWS Schmidt & Söhne" is not. No kind is better than a wrong one.
"""

from collections.abc import Iterable
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from ledger.rules.calc.parties import LEGAL_FORMS, Tokens, extract_words, find_phrase_places


class PaymentKind(StrEnum):
    SALARY = "salary"
    SOCIAL_SECURITY = "socialSecurity"
    WAGE_TAX = "wageTax"
    VAT = "vat"
    INCOME_TAX = "incomeTax"
    TAX = "tax"
    RENT = "rent"
    INSURANCE = "insurance"
    TELECOM = "telecom"
    ENERGY = "energy"
    TRAVEL = "travel"
    ENTERTAINMENT = "entertainment"
    HOSTING = "hosting"
    DEVELOPMENT_SOFTWARE = "developmentSoftware"
    OFFICE_SOFTWARE = "officeSoftware"
    ADVERTISING = "advertising"
    PROFESSIONAL_SERVICES = "professionalServices"
    BANK_FEES = "bankFees"
    PAYMENT_FEES = "paymentFees"
    INTEREST = "interest"
    LOAN = "loan"
    CUSTOMER_PAYMENT = "customerPayment"


# Kinds that say less than their category: which tax, or which revenue. Never the primary suggestion.
VAGUE_KINDS = frozenset([PaymentKind.TAX, PaymentKind.CUSTOMER_PAYMENT])
SINGLE_TAXES = frozenset([PaymentKind.WAGE_TAX, PaymentKind.VAT, PaymentKind.INCOME_TAX])
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

    ``names`` are whole names, beside legal forms and countries; ``name_words`` and ``texts`` are words within the name
    and the description.
    """

    kind: PaymentKind
    names: tuple[Tokens, ...] = ()
    name_words: tuple[Tokens, ...] = ()
    texts: tuple[Tokens, ...] = ()
    has_no_legal_form: bool = False  # a person or an authority, not a company
    is_incoming: bool | None = False  # None: either direction


def build_signs(
    kind: PaymentKind,
    *,
    names: Iterable[str] = (),
    name_words: Iterable[str] = (),
    texts: Iterable[str] = (),
    has_no_legal_form: bool = False,
    is_incoming: bool | None = False,
) -> KindSigns:
    """Return the signs from phrases as people write them."""
    phrases = to_phrases(names), to_phrases(name_words), to_phrases(texts)
    return KindSigns(kind, *phrases, has_no_legal_form=has_no_legal_form, is_incoming=is_incoming)


TAX_OFFICES = ("Finanzamt", "Finanzkasse", "Steueramt", "Tax office", "HMRC")
KIND_SIGNS = (
    build_signs(
        PaymentKind.WAGE_TAX,
        name_words=TAX_OFFICES,
        texts=("Lohnsteuer", "Lohnst", "LSt", "Lohn- und Kirchensteuer", "wage tax", "payroll tax", "PAYE"),
        has_no_legal_form=True,
    ),
    build_signs(
        PaymentKind.VAT,
        name_words=TAX_OFFICES,
        texts=("Umsatzsteuer", "Umsatzst", "USt", "USt-VA", "USt-Sondervorauszahlung", "MwSt", "VAT"),
        has_no_legal_form=True,
        is_incoming=None,
    ),
    build_signs(
        PaymentKind.INCOME_TAX,
        name_words=(*TAX_OFFICES, "Stadtkasse", "Gemeindekasse", "Stadt", "Gemeinde"),
        texts=(
            *("Körperschaftsteuer", "Körperschaftssteuer", "KSt", "KöSt", "Gewerbesteuer", "GewSt", "Einkommensteuer"),
            *("ESt", "corporation tax", "income tax"),
        ),
        has_no_legal_form=True,
        is_incoming=None,
    ),
    build_signs(PaymentKind.TAX, name_words=TAX_OFFICES, has_no_legal_form=True, is_incoming=None),
    build_signs(PaymentKind.WAGE_TAX, texts=("Lohnsteuer", "wage tax", "payroll tax"), has_no_legal_form=True),
    build_signs(
        PaymentKind.VAT,
        texts=(
            "Umsatzsteuervorauszahlung",
            "USt-Vorauszahlung",
            "Umsatzsteuervoranmeldung",
            "VAT return",
            "VAT payment",
        ),
        has_no_legal_form=True,
    ),
    build_signs(
        PaymentKind.INCOME_TAX,
        texts=("Körperschaftsteuer", "Gewerbesteuer", "corporation tax", "corporate income tax"),
        has_no_legal_form=True,
    ),
    build_signs(
        PaymentKind.SOCIAL_SECURITY,
        name_words=(
            *("Krankenkasse", "Gesundheitskasse", "Betriebskrankenkasse", "Innungskrankenkasse", "Ersatzkasse"),
            *("Knappschaft", "Minijob-Zentrale", "Rentenversicherung", "Berufsgenossenschaft", "Unfallkasse"),
            *("BKK", "IKK", "DAK-Gesundheit", "Künstlersozialkasse", "URSSAF"),
        ),
        has_no_legal_form=True,
    ),
    build_signs(PaymentKind.SOCIAL_SECURITY, names=("AOK", "TK", "Barmer", "DAK", "KKH", "HKK", "VBG", "HEK")),
    build_signs(
        PaymentKind.SOCIAL_SECURITY,
        texts=(
            *("Sozialversicherungsbeitrag", "Sozialversicherungsbeiträge", "Gesamtsozialversicherungsbeitrag"),
            *("SV-Beitrag", "SV-Beiträge", "social security contribution", "social security contributions"),
        ),
        has_no_legal_form=True,
    ),
    build_signs(
        PaymentKind.SALARY,
        texts=(
            *("Gehalt", "Gehälter", "Gehaltszahlung", "Monatsgehalt", "Lohn", "Löhne", "Lohnzahlung"),
            *("Ausbildungsvergütung", "salary", "salaries", "wage", "wages", "payroll"),
        ),
        has_no_legal_form=True,
    ),
    build_signs(
        PaymentKind.PROFESSIONAL_SERVICES,
        name_words=(
            *("Steuerberater", "Steuerberaterin", "Steuerberatung", "Steuerberatungsgesellschaft", "Steuerkanzlei"),
            *("Rechtsanwalt", "Rechtsanwältin", "Rechtsanwälte", "Rechtsanwaltsgesellschaft", "Notar", "Notarin"),
            *("Wirtschaftsprüfer", "Wirtschaftsprüfung", "Wirtschaftsprüfungsgesellschaft", "Solicitors"),
        ),
    ),
    build_signs(
        PaymentKind.INSURANCE,
        names=("Allianz", "AXA", "HDI", "Ergo", "Gothaer", "HUK-Coburg", "VHV", "Hiscox", "Generali", "Signal Iduna"),
    ),
    build_signs(PaymentKind.INSURANCE, name_words=("Versicherung", "Versicherungen", "Versicherungs", "Insurance")),
    build_signs(
        PaymentKind.INSURANCE,
        texts=("Versicherungsbeitrag", "Versicherungsprämie", "Betriebshaftpflicht", "insurance premium"),
    ),
    build_signs(
        PaymentKind.TELECOM,
        names=(
            *("Telekom", "Deutsche Telekom", "Vodafone", "O2", "Telefónica", "1&1", "1&1 Telecom", "congstar"),
            *("sipgate", "NetCologne", "M-net", "EWE TEL", "BT", "British Telecommunications"),
        ),
    ),
    build_signs(
        PaymentKind.ENERGY,
        names=(
            *("Stadtwerke", "Vattenfall", "E.ON", "E.ON Energie", "EnBW", "EWE", "LichtBlick", "RheinEnergie"),
            *("Naturstrom", "Mainova", "Entega", "Octopus Energy", "British Gas", "EDF Energy"),
        ),
    ),
    build_signs(PaymentKind.ENERGY, name_words=("Stadtwerke",)),
    build_signs(
        PaymentKind.ENERGY,
        texts=("Stromabschlag", "Abschlag Strom", "Gasabschlag", "Abschlag Gas", "electricity bill"),
    ),
    build_signs(
        PaymentKind.TRAVEL,
        names=(
            *("Deutsche Bahn", "DB Vertrieb", "DB Fernverkehr", "DB AG", "BahnCard", "Trainline", "Eurostar", "SNCF"),
            *("Flixbus", "Flix", "FlixMobility", "Lufthansa", "Deutsche Lufthansa", "Eurowings", "Ryanair", "easyJet"),
            *("British Airways", "KLM", "Air France", "Swiss International Air Lines", "Austrian Airlines", "Condor"),
            *("Booking.com", "HRS", "Airbnb", "Expedia", "Uber", "Free Now", "Bolt", "Sixt", "Europcar", "Hertz"),
            *("Motel One", "Ibis", "Holiday Inn", "Premier Inn", "NH Hotel", "NH Hotels", "Steigenberger"),
        ),
    ),
    build_signs(PaymentKind.TRAVEL, name_words=("Hotel", "Taxi", "Airlines", "Airways")),
    build_signs(PaymentKind.TRAVEL, texts=("Reisekosten", "Reisekostenabrechnung", "travel expenses")),
    build_signs(
        PaymentKind.ENTERTAINMENT,
        name_words=("Restaurant", "Ristorante", "Trattoria", "Osteria", "Pizzeria", "Brauhaus", "Steakhouse"),
    ),
    build_signs(PaymentKind.ENTERTAINMENT, texts=("Bewirtung", "Geschäftsessen", "business lunch", "business dinner")),
    build_signs(PaymentKind.ADVERTISING, names=("Google",), texts=("Ads", "AdWords")),
    build_signs(
        PaymentKind.ADVERTISING, names=("Google Ads", "LinkedIn", "LinkedIn Ads", "Meta Platforms", "Facebook")
    ),
    build_signs(PaymentKind.OFFICE_SOFTWARE, names=("Google",), texts=("Workspace", "G Suite", "GSuite")),
    build_signs(PaymentKind.HOSTING, names=("Google",), texts=("Cloud", "GCP")),
    build_signs(
        PaymentKind.HOSTING,
        names=(
            *("AWS", "Amazon Web Services", "Google Cloud", "Microsoft Azure", "Hetzner", "Hetzner Online", "OVH"),
            *("DigitalOcean", "Cloudflare", "IONOS", "Scaleway", "Heroku", "Vercel", "Netlify", "netcup", "STRATO"),
        ),
    ),
    build_signs(
        PaymentKind.DEVELOPMENT_SOFTWARE,
        names=(
            "GitHub",
            "GitLab",
            "Atlassian",
            "JetBrains",
            "Sentry",
            "Figma",
            "Datadog",
            "Docker",
            "OpenAI",
            "Anthropic",
        ),
    ),
    build_signs(
        PaymentKind.OFFICE_SOFTWARE,
        names=(
            *("Slack", "Slack Technologies", "Notion Labs", "Zoom Video Communications", "Google Workspace", "Dropbox"),
            *("Microsoft 365", "Adobe", "Adobe Systems Software", "DATEV", "Personio", "DocuSign", "1Password"),
            *("lexoffice", "Haufe-Lexware", "sevdesk", "Asana", "Miro"),
        ),
    ),
    build_signs(PaymentKind.RENT, names=("WeWork", "Regus", "Mindspace")),
    build_signs(
        PaymentKind.RENT,
        texts=("Miete", "Büromiete", "Mietzahlung", "Kaltmiete", "Warmmiete", "Gewerbemiete", "rent", "office rent"),
    ),
    build_signs(
        PaymentKind.BANK_FEES,
        texts=(
            *("Kontoführung", "Kontoführungsgebühr", "Kontoführungsgebühren", "Kontoführungsentgelt", "Kontogebühren"),
            *("Bankgebühr", "Bankgebühren", "Entgeltabschluss", "Kontoentgelt", "Buchungsentgelt"),
            *("bank fee", "bank fees", "bank charge", "bank charges", "account fee", "account maintenance fee"),
        ),
    ),
    build_signs(
        PaymentKind.PAYMENT_FEES,
        texts=("Stripe fee", "Stripe fees", "PayPal fee", "PayPal fees", "PayPal-Gebühr", "PayPal-Gebühren"),
    ),
    build_signs(
        PaymentKind.LOAN,
        texts=(
            *("Darlehen", "Darlehensrate", "Darlehenstilgung", "Tilgung", "Kreditrate"),
            *("loan repayment", "loan instalment", "loan installment", "loan disbursement"),
        ),
        is_incoming=None,
    ),
    build_signs(
        PaymentKind.INTEREST,
        texts=(
            *("Zinsen", "Sollzinsen", "Habenzinsen", "Zinszahlung", "Guthabenzinsen"),
            *("interest payment", "interest charge", "interest charges", "credit interest", "debit interest"),
        ),
        is_incoming=None,
    ),
    build_signs(
        PaymentKind.CUSTOMER_PAYMENT,
        names=("Stripe", "Stripe Payments", "Stripe Technology", "GoCardless", "Mollie", "Adyen", "Paddle"),
        is_incoming=True,
    ),
    build_signs(
        PaymentKind.CUSTOMER_PAYMENT,
        texts=("Rechnung", "Rechnungsnummer", "Rechnungsnr", "Rg", "RE", "Rgnr", "invoice", "inv"),
        is_incoming=True,
    ),
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
# A bill for salaries, taxes or rent is not a salary, tax or rent; nor is money that comes back.
DOUBT_WORDS = frozenset(
    [
        *(
            "rechnung",
            "rechnungsnummer",
            "invoice",
            "beratung",
            "consulting",
            "software",
            "makler",
            "maklers",
            "broker",
        ),
        *("erstattung", "ruckerstattung", "ruckzahlung", "refund", "kaution", "deposit", "gutschrift", "storno"),
        *("car", "restaurant", "cafe", "hotel"),
    ]
)
REVERSAL_WORDS = frozenset(
    ["erstattung", "ruckerstattung", "ruckzahlung", "refund", "gutschrift", "storno", "rucklastschrift"]
)


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

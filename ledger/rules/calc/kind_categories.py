"""Which of a company's categories fits a kind of payment.

A category of the company's own counts by its name, English or German: first one with a name of the kind, then one whose
name says more ("Miete und Raumkosten" for rent). Else the system category counts that the kind belongs to. Where a
company has neither, nothing fits. For revenue, nothing fits where the names of two own categories do.
"""

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from ledger.rules.calc.category_proposals import CategoryLine
from ledger.rules.calc.parties import Tokens, find_phrase_places
from ledger.rules.calc.payment_kinds import PaymentKind, extract_kind_words, to_phrases

SALARY_NAMES = (
    *("Salaries", "Salary", "Wages", "Wages and salaries", "Salaries and wages", "Payroll", "Staff costs", "Personnel"),
    *("Gehälter", "Gehalt", "Löhne", "Löhne und Gehälter", "Gehälter und Löhne", "Personal", "Personalkosten"),
)
PREMISES_NAMES = ("Raumkosten", "Premises costs", "Premises")
OFFICE_SUPPLIES_NAMES = ("Office supplies", "Office equipment", "Bürobedarf", "Büromaterial", "Büroausstattung")
ADVICE_NAMES = (
    *("Legal and accounting", "Legal and tax advice", "Rechts- und Beratungskosten", "Rechts- und Steuerberatung"),
    "Steuer- und Rechtsberatung",
)
SOFTWARE_NAMES = ("Software", "Software subscriptions", "Software and licenses", "Software und Lizenzen", "Lizenzen")


def is_salary_category(name: str) -> bool:
    """Whether a category is one of salaries by its name: who gets them is not for everybody.

    >>> is_salary_category("Löhne und Gehälter")
    True
    """
    return name.casefold() in {each.casefold() for each in SALARY_NAMES}


class KindCategory(NamedTuple):
    """The names and the system category of a kind, and the P&L line where the category has several.

    ``wider_names`` are of categories that are used where none has one of the names.
    """

    names: tuple[str, ...]
    system_key: str | None
    pl_type: str
    wider_names: tuple[str, ...] = ()


class CategoryOption(NamedTuple):
    """A category of the company."""

    id: UUID
    name: str
    system_key: str | None
    pl_types: tuple[str, ...]


KIND_CATEGORIES = {
    PaymentKind.SALARY: KindCategory(SALARY_NAMES, None, "ga"),
    PaymentKind.SOCIAL_SECURITY: KindCategory(
        (
            *("Social security", "Social security contributions", "Social insurance", "Sozialversicherung"),
            *("Sozialabgaben", "Soziale Abgaben", "Sozialversicherungsbeiträge"),
        ),
        None,
        "ga",
        wider_names=SALARY_NAMES,
    ),
    PaymentKind.WAGE_TAX: KindCategory(
        ("Wage tax", "Payroll tax", "Payroll taxes", "Lohnsteuer"), None, "ga", wider_names=SALARY_NAMES
    ),
    PaymentKind.VAT: KindCategory(("VAT", "Umsatzsteuer"), "taxPayments", "neutral"),
    PaymentKind.INCOME_TAX: KindCategory(("Income tax", "Corporation tax", "Ertragsteuern"), "incomeTax", "no"),
    PaymentKind.TAX: KindCategory((), "taxPayments", "neutral"),
    PaymentKind.RENT: KindCategory(
        ("Rent", "Office rent", "Miete", "Büromiete", *PREMISES_NAMES), "officeAndAdmin", "ga"
    ),
    PaymentKind.INSURANCE: KindCategory(("Insurance", "Versicherung", "Versicherungen"), "officeAndAdmin", "ga"),
    PaymentKind.MEMBERSHIP: KindCategory(
        ("Memberships", "Membership fees", "Dues", "Beiträge", "Mitgliedsbeiträge", "Beiträge und Gebühren"),
        "officeAndAdmin",
        "ga",
    ),
    PaymentKind.POSTAGE: KindCategory(
        ("Postage", "Porto", "Porto und Versand"), "officeAndAdmin", "ga", wider_names=OFFICE_SUPPLIES_NAMES
    ),
    PaymentKind.OFFICE_SUPPLIES: KindCategory(OFFICE_SUPPLIES_NAMES, "officeAndAdmin", "ga"),
    PaymentKind.BOOKS: KindCategory(
        ("Books", "Books and journals", "Fachliteratur", "Bücher", "Bücher und Zeitschriften"), "officeAndAdmin", "ga"
    ),
    PaymentKind.CLEANING: KindCategory(
        ("Cleaning", "Reinigung", "Reinigungskosten", *PREMISES_NAMES), "officeAndAdmin", "ga"
    ),
    PaymentKind.VEHICLE: KindCategory(
        ("Vehicle costs", "Vehicles", "Car expenses", "Kfz-Kosten", "Fahrzeugkosten"),
        "officeAndAdmin",
        "ga",
    ),
    PaymentKind.TELECOM: KindCategory(
        (
            *("Telecommunications", "Telecom", "Telephone", "Phone", "Phone and internet", "Telephone and internet"),
            *("Telefon", "Telekommunikation", "Telefon und Internet"),
        ),
        "officeAndAdmin",
        "ga",
    ),
    PaymentKind.ENERGY: KindCategory(
        ("Energy", "Electricity", "Utilities", "Energie", "Energiekosten", "Strom", "Strom und Gas", *PREMISES_NAMES),
        "officeAndAdmin",
        "ga",
    ),
    PaymentKind.TRAVEL: KindCategory(
        ("Travel", "Travel expenses", "Travel costs", "Business travel", "Reisekosten", "Reisen"),
        "officeAndAdmin",
        "ga",
    ),
    PaymentKind.ENTERTAINMENT: KindCategory(
        ("Entertainment", "Meals and entertainment", "Meals", "Bewirtung", "Bewirtungskosten"), "officeAndAdmin", "ga"
    ),
    PaymentKind.HOSTING: KindCategory(("Hosting", "Cloud", "Servers", "Server"), "hosting", "cogs"),
    PaymentKind.DEVELOPMENT_SOFTWARE: KindCategory(SOFTWARE_NAMES, "productDevelopment", "pd"),
    PaymentKind.OFFICE_SOFTWARE: KindCategory(SOFTWARE_NAMES, "officeAndAdmin", "ga"),
    PaymentKind.ADVERTISING: KindCategory(("Advertising", "Werbung"), "marketing", "cac"),
    PaymentKind.RECRUITING: KindCategory(
        ("Recruiting", "Recruitment", "Hiring", "Personalbeschaffung", "Personalsuche", "Stellenanzeigen"), None, "ga"
    ),
    PaymentKind.FREELANCERS: KindCategory(
        ("Freelancers", "Freelancer", "Contractors", "Freie Mitarbeiter", "Fremdleistungen"), None, "pd"
    ),
    PaymentKind.LEGAL_ADVICE: KindCategory(
        (
            *("Legal fees", "Legal costs", "Legal advice", "Legal", "Rechtsberatung", "Rechtsberatungskosten"),
            *("Rechtskosten", "Anwaltskosten", "Rechtsanwalt", "Rechtsanwälte"),
        ),
        "professionalServices",
        "ga",
        wider_names=ADVICE_NAMES,
    ),
    PaymentKind.TAX_ADVICE: KindCategory(
        (
            *("Tax advice", "Tax adviser", "Tax advisor", "Accounting", "Accounting fees", "Accountant", "Bookkeeping"),
            *("Steuerberatung", "Steuerberater", "Steuerberatungskosten", "Buchhaltung", "Buchführung"),
            "Buchführungskosten",
        ),
        "professionalServices",
        "ga",
        wider_names=ADVICE_NAMES,
    ),
    PaymentKind.PROFESSIONAL_SERVICES: KindCategory(
        ("Audit", "Audit fees", "Wirtschaftsprüfung", "Abschluss- und Prüfungskosten"),
        "professionalServices",
        "ga",
        wider_names=ADVICE_NAMES,
    ),
    PaymentKind.BANK_FEES: KindCategory(
        ("Bank fees", "Bank charges", "Bankgebühren", "Kontoführung", "Nebenkosten des Geldverkehrs"),
        "officeAndAdmin",
        "ga",
    ),
    PaymentKind.PAYMENT_FEES: KindCategory((), "paymentFees", "cogs"),
    PaymentKind.INTEREST: KindCategory(("Interest", "Zinsen"), "interest", "no"),
    PaymentKind.LOAN: KindCategory(("Loans", "Loan repayments", "Darlehen"), "financing", "neutral"),
    PaymentKind.CARD_SETTLEMENT: KindCategory((), "transfer", "neutral"),
    PaymentKind.CARD_PAYMENT_RECEIVED: KindCategory((), "transfer", "neutral"),
    PaymentKind.SUBSCRIPTION_REVENUE: KindCategory((), "revenueRecurring", "revenue"),
    PaymentKind.PROJECT_REVENUE: KindCategory((), "revenueOneOff", "revenue"),
    PaymentKind.CUSTOMER_PAYMENT: KindCategory((), None, "revenue"),
}


# Words of names that a company gives its own categories of revenue.
REVENUE_CATEGORY_WORDS = {
    PaymentKind.SUBSCRIPTION_REVENUE: to_phrases(
        [
            *("Subscription", "Subscriptions", "Recurring", "SaaS", "MRR", "License", "Licenses", "Licence"),
            *("Licences", "Maintenance", "Abo", "Abos", "Abonnement", "Abonnements", "Aboerlöse", "Lizenz", "Lizenzen"),
            *("Lizenzerlöse", "Wartung", "Wartungsverträge", "Wartungserlöse", "wiederkehrend", "wiederkehrende"),
            "wiederkehrender",
        ]
    ),
    PaymentKind.PROJECT_REVENUE: to_phrases(
        [
            *("Project", "Projects", "Services", "Consulting", "Workshop", "Workshops", "Training", "Implementation"),
            *("Onboarding", "Setup", "One-off", "Projekt", "Projekte", "Projekterlöse", "Projektgeschäft"),
            *("Dienstleistung", "Dienstleistungen", "Dienstleistungserlöse", "Beratung", "Beratungserlöse"),
            *("Schulung", "Schulungen", "Implementierung", "einmalig", "einmalige", "einmaliger"),
        ]
    ),
}


EXACT_NAMES = frozenset(
    phrase for expected in KIND_CATEGORIES.values() for phrase in to_phrases([*expected.names, *expected.wider_names])
)
LINE_BY_NAME = {
    phrase: expected.pl_type for expected in KIND_CATEGORIES.values() for phrase in to_phrases(expected.names)
}
REVENUE_WORDS = frozenset(extract_kind_words("revenue revenues sales erlöse umsatz umsätze umsatzerlöse"))
EXPENSE_LINES = frozenset(["cogs", "cac", "pd", "ga"])
# Words of a category's name that make it another one than the kind's, and names that are ordinary words beside others.
OTHER_CATEGORY_WORDS = frozenset(
    extract_kind_words(
        "car kfz fahrzeug fahrzeuge vehicle vehicles equipment geräte maschinen travel health insurance software "
        "income revenue sales erlöse erträge einnahmen refunds erstattungen deposit kaution private privat "
        "development entwicklung beratung consulting customer customers kunden employees mitarbeiter "
        "social sozialversicherung krankenkasse"
    )
)
WHOLE_NAMES_ONLY = frozenset(to_phrases(["Personal", "Personnel", "Meals", "Phone", "Cloud", "Server", "Servers"]))


def find_line_of_name(name: str) -> str:
    """Return the P&L line on which companies have a category of this name; empty for other and neutral ones.

    >>> find_line_of_name("Miete"), find_line_of_name("Erlöse Projekte"), find_line_of_name("Hosting")
    ('ga', 'revenue', 'cogs')
    >>> find_line_of_name("Darlehen"), find_line_of_name("Projekte")
    ('', '')
    """
    words = extract_kind_words(name)
    line = LINE_BY_NAME.get(words, "revenue" if words and words[0] in REVENUE_WORDS else "")
    return "" if line == "neutral" else line


def find_kind_category(kind: PaymentKind, categories: Iterable[CategoryOption]) -> CategoryLine | None:
    """Return the category that fits a kind, and the P&L line; None if none does.

    The first of the kind's names that a category has wins, then the longest that one contains as whole words, then the
    kind's system category. A category with several lines is used with the line of the kind, else with its first one.
    """
    expected = KIND_CATEGORIES[kind]
    options = list(categories)
    if kind in REVENUE_CATEGORY_WORDS:
        return find_revenue_category(kind, options)
    own_options = [option for option in options if not option.system_key]
    by_key = {option.system_key: option for option in options if option.system_key}
    category = (
        find_named_option(expected.names, options)
        or find_containing_option(expected.names, expected.pl_type, own_options)
        or find_named_option(expected.wider_names, options)
        or find_containing_option(expected.wider_names, expected.pl_type, own_options)
        or by_key.get(expected.system_key or "")
    )
    if category is None:
        return None
    return category.id, expected.pl_type if expected.pl_type in category.pl_types else category.pl_types[0]


def find_revenue_category(kind: PaymentKind, options: Iterable[CategoryOption]) -> CategoryLine | None:
    """Return the company's own category of such revenue, else the system category; None if several own ones fit."""
    revenue_options = [option for option in options if "revenue" in option.pl_types]
    own_options = [
        option for option in revenue_options if not option.system_key and find_revenue_kinds(option.name) == {kind}
    ]
    fitting = own_options or [each for each in revenue_options if each.system_key == KIND_CATEGORIES[kind].system_key]
    return (fitting[0].id, "revenue") if len(fitting) == 1 else None


def find_revenue_kinds(name: str) -> set[PaymentKind]:
    """Return the kinds of revenue that the name of a category says.

    >>> [kind.value for kind in find_revenue_kinds("Erlöse SaaS")], find_revenue_kinds("Erlöse 19 % USt")
    (['subscriptionRevenue'], set())
    """
    words = extract_kind_words(name)
    return {
        kind
        for kind, phrases in REVENUE_CATEGORY_WORDS.items()
        if any(find_phrase_places(words, phrase) for phrase in phrases)
    }


def find_named_option(names: Iterable[str], options: Iterable[CategoryOption]) -> CategoryOption | None:
    """Return the category that has the first of the names that any has."""
    by_name: dict[Tokens, CategoryOption] = {}
    for option in options:
        by_name.setdefault(extract_kind_words(option.name), option)
    return next((by_name[name] for name in to_phrases(names) if name in by_name), None)


def find_containing_option(
    names: Iterable[str], pl_type: str, options: Iterable[CategoryOption]
) -> CategoryOption | None:
    """Return the category whose name contains the longest of the names, as whole words.

    A category with the exact name of any kind is left out, one of another sort of P&L line, and one whose other words
    make it something else ("Rent a car").
    """
    phrases = set(to_phrases(names))
    other_words = OTHER_CATEGORY_WORDS.difference(*phrases)
    lines = EXPENSE_LINES if pl_type in EXPENSE_LINES else {pl_type}
    words_by_option = [(extract_kind_words(option.name), option) for option in options if lines & set(option.pl_types)]
    for phrase in sorted(phrases - WHOLE_NAMES_ONLY, key=lambda words: (-len("".join(words)), words)):
        for words, option in words_by_option:
            is_other = words in EXACT_NAMES or not other_words.isdisjoint(words)
            if not is_other and find_phrase_places(words, phrase):
                return option
    return None


def is_wider_name(name_words: Tokens, phrase: Tokens) -> bool:
    """Whether the name of a category contains a phrase as whole words, and no word that makes it something else.

    >>> phrase = extract_kind_words("Beratung")
    >>> is_wider_name(extract_kind_words("Beratung und Dienstleistungen"), phrase)
    True
    >>> is_wider_name(extract_kind_words("Beratung Kunden"), phrase)
    False
    """
    if not phrase or phrase in WHOLE_NAMES_ONLY or not find_phrase_places(name_words, phrase):
        return False
    return OTHER_CATEGORY_WORDS.difference(phrase).isdisjoint(name_words)

"""Which of a company's categories fits a kind of payment.

A category of the company's own counts by its name, English or German; else the system category that the kind belongs
to. Where a company has neither, nothing fits.
"""

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from ledger.rules.calc.category_proposals import CategoryLine
from ledger.rules.calc.parties import Tokens
from ledger.rules.calc.payment_kinds import PaymentKind, extract_kind_words

SALARY_NAMES = (
    *("Salaries", "Salary", "Wages", "Wages and salaries", "Salaries and wages", "Payroll", "Staff costs", "Personnel"),
    *("Gehälter", "Gehalt", "Löhne", "Löhne und Gehälter", "Gehälter und Löhne", "Personal", "Personalkosten"),
)
SOFTWARE_NAMES = ("Software", "Software subscriptions", "Software and licenses", "Software und Lizenzen", "Lizenzen")


class KindCategory(NamedTuple):
    """The names and the system category of a kind, and the P&L line where the category has several."""

    names: tuple[str, ...]
    system_key: str | None
    pl_type: str


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
            *("Sozialabgaben", "Soziale Abgaben", "Sozialversicherungsbeiträge", *SALARY_NAMES),
        ),
        None,
        "ga",
    ),
    PaymentKind.WAGE_TAX: KindCategory(
        ("Wage tax", "Payroll tax", "Payroll taxes", "Lohnsteuer", *SALARY_NAMES), None, "ga"
    ),
    PaymentKind.VAT: KindCategory(("VAT", "Umsatzsteuer"), "taxPayments", "neutral"),
    PaymentKind.INCOME_TAX: KindCategory(("Income tax", "Corporation tax", "Ertragsteuern"), "incomeTax", "no"),
    PaymentKind.TAX: KindCategory((), "taxPayments", "neutral"),
    PaymentKind.RENT: KindCategory(("Rent", "Office rent", "Miete", "Büromiete", "Raumkosten"), "officeAndAdmin", "ga"),
    PaymentKind.INSURANCE: KindCategory(("Insurance", "Versicherung", "Versicherungen"), "officeAndAdmin", "ga"),
    PaymentKind.TELECOM: KindCategory(
        (
            *("Telecommunications", "Telecom", "Telephone", "Phone", "Phone and internet", "Telephone and internet"),
            *("Telefon", "Telekommunikation", "Telefon und Internet"),
        ),
        "officeAndAdmin",
        "ga",
    ),
    PaymentKind.ENERGY: KindCategory(
        ("Energy", "Electricity", "Utilities", "Energie", "Energiekosten", "Strom", "Strom und Gas", "Raumkosten"),
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
    PaymentKind.PROFESSIONAL_SERVICES: KindCategory(
        ("Legal and accounting", "Accounting", "Legal fees", "Steuerberatung", "Rechts- und Beratungskosten"),
        "professionalServices",
        "ga",
    ),
    PaymentKind.BANK_FEES: KindCategory(
        ("Bank fees", "Bank charges", "Bankgebühren", "Kontoführung", "Nebenkosten des Geldverkehrs"),
        "officeAndAdmin",
        "ga",
    ),
    PaymentKind.PAYMENT_FEES: KindCategory((), "paymentFees", "cogs"),
    PaymentKind.INTEREST: KindCategory(("Interest", "Zinsen"), "interest", "no"),
    PaymentKind.LOAN: KindCategory(("Loans", "Loan repayments", "Darlehen"), "financing", "neutral"),
    PaymentKind.CUSTOMER_PAYMENT: KindCategory((), "revenueRecurring", "revenue"),
}


def find_kind_category(kind: PaymentKind, categories: Iterable[CategoryOption]) -> CategoryLine | None:
    """Return the category that fits a kind, and the P&L line; None if none does.

    The first of the kind's names that a category has wins, then its system category. A category with several lines is
    used with the line of the kind, else with its first one.
    """
    expected = KIND_CATEGORIES[kind]
    options = list(categories)
    options_by_name: dict[Tokens, CategoryOption] = {}
    for option in options:
        options_by_name.setdefault(extract_kind_words(option.name), option)
    options_by_key = {option.system_key: option for option in options if option.system_key}
    named_options = (options_by_name.get(extract_kind_words(name)) for name in expected.names)
    category = next(filter(None, named_options), None) or options_by_key.get(expected.system_key or "")
    if category is None:
        return None
    return category.id, expected.pl_type if expected.pl_type in category.pl_types else category.pl_types[0]

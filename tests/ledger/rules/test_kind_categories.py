"""Which category a payment gets in a company that has one for each sort of cost, as its plan names them."""

from uuid import UUID

import pytest

from ledger.rules.calc.kind_categories import CategoryOption, find_kind_category
from ledger.rules.calc.payment_kind_matcher import find_payment_kind

OUT, IN = False, True
SYSTEM_OPTIONS = [
    CategoryOption(UUID(int=1), "Professional services", "professionalServices", ("ga",)),
    CategoryOption(UUID(int=2), "Office and administration", "officeAndAdmin", ("ga",)),
    CategoryOption(UUID(int=3), "Marketing", "marketing", ("cac",)),
    CategoryOption(UUID(int=4), "Recurring revenue", "revenueRecurring", ("revenue",)),
]
GERMAN_NAMES = (
    *("Rechtsberatung", "Steuerberater", "Raumkosten", "Werbung", "Reisekosten", "Bürobedarf", "Fahrzeugkosten"),
    *("Recruiting", "Fachliteratur", "Software"),
)
ENGLISH_NAMES = (
    *("Legal fees", "Accounting", "Premises costs", "Advertising", "Travel", "Office supplies", "Vehicle costs"),
    *("Recruiting", "Books", "Software"),
)


def find_category_name(names, from_to, description, is_incoming):
    """Return the name of the suggested category, if the texts say the kind of payment."""
    own = [CategoryOption(UUID(int=100 + number), name, None, ("ga",)) for number, name in enumerate(names)]
    options = {option.id: option.name for option in [*SYSTEM_OPTIONS, *own]}
    kind = find_payment_kind(from_to=from_to, description=description, is_incoming=is_incoming)
    choice = find_kind_category(kind, [*SYSTEM_OPTIONS, *own]) if kind else None
    return choice and options[choice[0]]


@pytest.mark.parametrize(
    ("from_to", "description", "is_incoming", "expected"),
    [
        ("Rechtsanwaelte Krug", "Vertragspruefung RE 7", OUT, "Rechtsberatung"),
        ("Notarin Dr. Beck", "Urkunde 7", OUT, "Rechtsberatung"),
        ("Winter und Partner Steuerberater", "Lohnbuchhaltung September", OUT, "Steuerberater"),
        ("Steuerkanzlei Meyer", "Honorar September", OUT, "Steuerberater"),
        ("Wirtschaftsprüfung Nord GmbH", "Jahresabschluss", OUT, "Professional services"),
        ("Stripe Payments Europe", "STRIPE AUSZAHLUNG PO-7", IN, "Recurring revenue"),
        ("Stripe Payments Europe", "STRIPE AUSZAHLUNG Workshop", IN, None),
        ("", "MEDIA MARKT KOELN", OUT, "Bürobedarf"),
        ("Bueromarkt Boettcher AG", "Bestellung 7", OUT, "Bürobedarf"),
        ("Gebaeudereinigung Glanz", "Reinigung Oktober RE 7", OUT, "Raumkosten"),
        ("", "THALIA BUCHHANDLUNG KOELN", OUT, "Fachliteratur"),
        ("Autohaus Sommer Leasing", "Leasingrate K-ND 25 Oktober", OUT, "Fahrzeugkosten"),
        ("Volkswagen Leasing GmbH", "Vertrag 7", OUT, "Fahrzeugkosten"),
        ("LinkedIn Ireland Unlimited", "Recruiter Anzeigen Oktober", OUT, "Recruiting"),
        ("LinkedIn Ireland Unlimited Company", "LinkedIn Jobs", OUT, "Recruiting"),
        ("", "BVG APP BERLIN", OUT, "Reisekosten"),
        ("Agentur Westwind GmbH", "Kampagne Herbst RE 7", OUT, "Werbung"),
        # Other things of businesses with such names.
        ("", "THALIA THEATER HAMBURG", OUT, None),
        ("Media Markt GmbH", "Erstattung 7", IN, None),
        ("Autohaus Sommer", "Kaufpreis K-ND 25", OUT, None),
        ("Technik Nord GmbH", "Leasingrate Kopierer", OUT, None),
        ("Agentur für Arbeit", "Bescheid 7", OUT, None),
        ("Gebäudereinigung Software GmbH", "Lizenz", OUT, None),
        ("Textilreinigung Huber", "Reinigung Anzug", OUT, None),
        ("", "BVG KLINIK", OUT, None),
    ],
)
def test_payment_has_the_category_of_its_sort(from_to, description, is_incoming, expected):
    assert find_category_name(GERMAN_NAMES, from_to, description, is_incoming) == expected


@pytest.mark.parametrize(
    ("from_to", "description", "is_incoming", "expected"),
    [
        ("Brown & Hill Solicitors", "Invoice 7", OUT, "Legal fees"),
        ("Rechtsanwälte Krug", "Rechnung 7", OUT, "Legal fees"),
        ("Hill Chartered Accountants", "Year-end accounts", OUT, "Accounting"),
        ("Stripe Payments UK Ltd", "STRIPE PAYOUT", IN, "Recurring revenue"),
        ("", "CURRYS LONDON", OUT, "Office supplies"),
        ("Bright Office Cleaning Ltd", "October", OUT, "Premises costs"),
        ("", "WATERSTONES LEEDS", OUT, "Books"),
        ("LeasePlan UK Ltd", "Agreement 7", OUT, "Vehicle costs"),
        ("LinkedIn Ireland", "LinkedIn Recruiter Oct", OUT, "Recruiting"),
        ("", "TFL TRAVEL CHARGE", OUT, "Travel"),
        ("Westwind Agency Ltd", "Autumn campaign", OUT, "Advertising"),
    ],
)
def test_payment_has_the_category_of_its_sort_in_english(from_to, description, is_incoming, expected):
    assert find_category_name(ENGLISH_NAMES, from_to, description, is_incoming) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Rechts- und Beratungskosten", "Rechts- und Beratungskosten"), ("Beratung", "Professional services")],
)
def test_category_of_legal_and_tax_advice_is_used_for_both(name, expected):
    for from_to in ("Rechtsanwälte Krug", "Steuerkanzlei Meyer"):
        assert find_category_name([name], from_to, "Rechnung 7", OUT) == expected

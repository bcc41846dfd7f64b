"""The kind of a payment by its texts, and the category that fits it."""

from uuid import UUID

import pytest

from ledger.inbox.proposal_basis import PAYMENT_KIND_EXPLANATIONS
from ledger.rules.calc.kind_categories import KIND_CATEGORIES, CategoryOption, find_kind_category
from ledger.rules.calc.payment_kinds import PaymentKind, find_payment_kind

OUT, IN = False, True


@pytest.mark.parametrize(
    ("from_to", "description", "is_incoming", "expected"),
    [
        ("Anna Schneider", "Gehalt Oktober 2026", OUT, "salary"),
        ("Anna Schneider", "LOHN/GEHALT 10.2026", OUT, "salary"),
        ("Ben Wagner", "Gehaelter 10/2026", OUT, "salary"),
        ("John Miller", "Salary October", OUT, "salary"),
        ("", "Payroll October", OUT, "salary"),
        ("Gehalt Oktober", "", OUT, "salary"),
        ("AOK Bayern - Die Gesundheitskasse", "SV-Beiträge 10/2026", OUT, "socialSecurity"),
        ("AOK PLUS", "10/2026", OUT, "socialSecurity"),
        ("Techniker Krankenkasse", "Beitrag 10.2026", OUT, "socialSecurity"),
        ("TK", "Beitragsnachweis", OUT, "socialSecurity"),
        ("BARMER", "Beitrag", OUT, "socialSecurity"),
        ("Knappschaft-Bahn-See Minijob-Zentrale", "", OUT, "socialSecurity"),
        ("Deutsche Rentenversicherung Bund", "Beitrag", OUT, "socialSecurity"),
        ("Finanzamt München", "Lohnsteuer September 2026", OUT, "wageTax"),
        ("Finanzamt Berlin Mitte", "LSt 09.26", OUT, "wageTax"),
        ("Finanzamt München", "Umsatzsteuer August 2026", OUT, "vat"),
        ("Finanzamt Köln-Mitte", "USt-VA 3. Quartal", OUT, "vat"),
        ("Finanzamt Köln-Mitte", "Umsatzsteuer Erstattung", IN, "vat"),
        ("HMRC", "VAT 882 1", OUT, "vat"),
        ("Finanzamt Köln-Mitte", "KSt Q3", OUT, "incomeTax"),
        ("Stadt Köln", "Gewerbesteuer 3. Rate", OUT, "incomeTax"),
        ("Finanzamt München", "StNr 143/123/45678", OUT, "tax"),
        ("Finanzamt München", "LSt 4120,55 USt 6230,00", OUT, "tax"),
        ("Immobilien Huber GmbH & Co. KG", "Miete Büro Oktober", OUT, "rent"),
        ("City Offices Ltd", "Office rent October", OUT, "rent"),
        ("", "Bueromiete", OUT, "rent"),
        ("Allianz Versicherungs-AG", "Beitrag 2026", OUT, "insurance"),
        ("Hiscox Insurance Company", "Policy 7", OUT, "insurance"),
        ("Telekom Deutschland GmbH", "Rechnung 10/2026", OUT, "telecom"),
        ("1&1 Telecom GmbH", "Kd.Nr. 1", OUT, "telecom"),
        ("Vodafone", "", OUT, "telecom"),
        ("Stadtwerke München GmbH", "Abschlag 10/2026", OUT, "energy"),
        ("Stadtwerke Köln", "Abschlag Strom", OUT, "energy"),
        ("E.ON Energie Deutschland GmbH", "", OUT, "energy"),
        ("Hausverwaltung Maier", "Stromabschlag Oktober", OUT, "energy"),
        ("DB Vertrieb GmbH", "Ticket QX7K2P", OUT, "travel"),
        ("Deutsche Lufthansa AG", "220-2231", OUT, "travel"),
        ("BOOKING.COM", "Amsterdam", OUT, "travel"),
        ("Uber", "Trip 7", OUT, "travel"),
        ("Hotel Adlon GmbH", "Rechnung 881", OUT, "travel"),
        ("Taxi Huber", "Fahrt 12.10.", OUT, "travel"),
        ("Sixt", "Rent a car Berlin", OUT, "travel"),
        ("Anna Schneider", "Reisekostenabrechnung September", OUT, "travel"),
        ("Restaurant Alte Post", "Kartenzahlung", OUT, "entertainment"),
        ("Trattoria Da Mario", "", OUT, "entertainment"),
        ("AWS EMEA SARL", "Invoice 1849221", OUT, "hosting"),
        ("Amazon Web Services EMEA SARL", "", OUT, "hosting"),
        ("Hetzner Online GmbH", "Rechnung R0022334", OUT, "hosting"),
        ("Google Cloud EMEA Limited", "", OUT, "hosting"),
        ("Google Ireland Limited", "Google Ads 8891-2231", OUT, "advertising"),
        ("Google Ireland Ltd.", "Workspace Business", OUT, "officeSoftware"),
        ("GitHub, Inc.", "Team plan", OUT, "developmentSoftware"),
        ("Slack Technologies Limited", "Invoice SBIE-221", OUT, "officeSoftware"),
        ("DATEV eG", "Rechnung 44211", OUT, "officeSoftware"),
        ("Kanzlei Maier Steuerberatungsgesellschaft mbH", "Rechnung 2026-881", OUT, "professionalServices"),
        ("", "Entgeltabschluss Kontoführung", OUT, "bankFees"),
        ("Sparkasse", "Bank charges Q3", OUT, "bankFees"),
        ("KfW", "Tilgung Darlehen 4711", OUT, "loan"),
        ("KfW", "Darlehen 4711 Auszahlung", IN, "loan"),
        ("", "Sollzinsen 3. Quartal", OUT, "interest"),
        ("Novatec AG", "Rechnung RE-2026-1002", IN, "customerPayment"),
        ("Stripe Payments Europe Ltd", "STRIPE PAYOUT", IN, "customerPayment"),
    ],
)
def test_texts_say_the_kind(from_to, description, is_incoming, expected):
    kind = find_payment_kind(from_to=from_to, description=description, is_incoming=is_incoming)
    assert kind == expected


@pytest.mark.parametrize(
    ("from_to", "description", "is_incoming"),
    [
        ("Mieter GmbH", "Wartung 7", OUT),
        ("Gehaltsheimer", "Bestellung", OUT),
        ("AWS Schmidt & Söhne", "Montage", OUT),
        ("TK Maxx", "Einkauf", OUT),
        ("TK Elevator GmbH", "Wartung", OUT),
        ("Lohn & Gehalt Service GmbH", "Oktober", OUT),
        ("Lohn Partner GmbH", "", OUT),
        ("Hans Lohn", "", OUT),
        ("Jonathan Rent", "", OUT),
        ("DATEX GmbH", "Lohn und Gehalt Software", OUT),
        ("Payroll Experts Ltd", "Payroll service", OUT),
        ("Peter Kurz", "Rechnung 12 Lohnsteuer Beratung", OUT),
        ("Anna Schneider", "Gehalt Rückzahlung", IN),
        ("Anna Schneider", "Gehalt Oktober", IN),
        ("Untermieter Maier", "Miete Oktober", IN),
        ("Maier Hausverwaltung", "Rückzahlung Miete", OUT),
        ("Maier Hausverwaltung", "Miete Kaution", OUT),
        ("Sixty Shoes", "Rent a car Berlin", OUT),
        ("Current Events GmbH", "Different parents", OUT),
        ("Finanzamt Café Berlin", "Kaffee", OUT),
        ("Finanzamt Verlag GmbH", "Abo", OUT),
        ("Stadtwerke Köln", "Erstattung Strom", IN),
        ("Flixbus Modellbau Müller", "Bausatz", OUT),
        ("Hotelsoftware Weber GmbH", "Lizenz", OUT),
        ("Hotel Software Weber GmbH", "Lizenz", OUT),
        ("Condor Fahrradhaus", "Inspektion", OUT),
        ("Hotel Adlon GmbH", "Storno Rechnung 881", IN),
        ("Boltz Maschinenbau", "Teile", OUT),
        ("Restaurantbedarf Weber", "Gläser", OUT),
        ("Stadt Köln", "Parkgebühr", OUT),
        ("Versicherungsmakler Roth", "Provision", OUT),
        ("Versicherung Makler Roth", "Provision", OUT),
        ("Ergotherapie Haas", "Termin", OUT),
        ("Zoom Kamera Verleih", "Objektiv", OUT),
        ("Slackline Shop", "Band", OUT),
        ("Google Ireland Limited", "", OUT),
        ("Amazon Business EU SARL", "Bestellung 302-221", OUT),
        ("Loan Nguyen", "Loan Nguyen", OUT),
        ("Hetzner Online GmbH", "Gutschrift Rechnung 7", IN),
        ("Novatec AG", "Rechnung RE-7 Rücklastschrift", IN),
        ("Lieferant GmbH", "Rechnung 19 % Umsatzsteuer", OUT),
        ("Berger", "Wage nicht zu viel", IN),
        ("", "", OUT),
    ],
)
def test_similar_texts_say_no_kind(from_to, description, is_incoming):
    assert find_payment_kind(from_to=from_to, description=description, is_incoming=is_incoming) is None


RENT, OFFICE, PAY, TAX_PAYMENTS = (UUID(int=n) for n in range(1, 5))
OFFICE_OPTION = CategoryOption(OFFICE, "Office and administration", "officeAndAdmin", ("ga",))


def test_own_category_by_name_wins_over_the_system_category():
    options = [OFFICE_OPTION, CategoryOption(RENT, "Büromiete", None, ("ga",))]
    assert find_kind_category(PaymentKind.RENT, options) == (RENT, "ga")
    assert find_kind_category(PaymentKind.RENT, options[:1]) == (OFFICE, "ga")


@pytest.mark.parametrize("name", ["Salaries", "gehälter", "Gehaelter", "👩 Löhne und Gehälter"])
def test_category_names_are_compared_without_case_accents_and_signs(name):
    options = [CategoryOption(PAY, name, None, ("cogs", "ga"))]
    assert find_kind_category(PaymentKind.SALARY, options) == (PAY, "ga")
    assert find_kind_category(PaymentKind.WAGE_TAX, options) == (PAY, "ga"), "a part of the gross salary"


def test_category_without_the_usual_line_is_used_with_its_first():
    options = [CategoryOption(PAY, "Payroll", None, ("cogs", "pd"))]
    assert find_kind_category(PaymentKind.SALARY, options) == (PAY, "cogs")


def test_no_category_fits_without_name_or_system_key():
    assert find_kind_category(PaymentKind.SALARY, [OFFICE_OPTION]) is None
    assert find_kind_category(PaymentKind.VAT, [OFFICE_OPTION]) is None
    vat = [CategoryOption(TAX_PAYMENTS, "Anything", "taxPayments", ("neutral",))]
    assert find_kind_category(PaymentKind.VAT, vat) == (TAX_PAYMENTS, "neutral")


def test_every_kind_has_a_category_to_look_for():
    assert KIND_CATEGORIES.keys() == set(PaymentKind)


def test_every_kind_has_a_category_and_an_explanation():
    assert set(PaymentKind) == set(KIND_CATEGORIES) == set(PAYMENT_KIND_EXPLANATIONS)

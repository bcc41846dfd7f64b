"""The VAT rate that is suggested for a payment without history, and the countries that names say."""

from decimal import Decimal
from zoneinfo import available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.rules.calc.countries import (
    COUNTRY_BY_TIME_ZONE,
    COUNTRY_TAXES,
    COUNTRY_WORDS,
    LEGAL_FORM_COUNTRIES,
    find_company_countries,
    find_name_countries,
    find_zone_tax_percent,
)
from ledger.rules.calc.payment_kind_matcher import find_payment_kind
from ledger.rules.calc.payment_kinds import REVENUE_KINDS, PaymentKind
from ledger.rules.calc.standard_tax import (
    REDUCED_KINDS,
    TAXED_KINDS,
    TaxSettings,
    find_standard_tax,
    find_stated_percents,
)

OUT, IN = False, True
STANDARD, REDUCED, ABROAD, NOTHING = ("19", "standard"), ("7", "reduced"), (None, "abroad"), None


def suggest(from_to, description, is_incoming, pl_type, *, kind=None, standard="19", countries=("DE",)):
    kind = kind or find_payment_kind(from_to=from_to, description=description, is_incoming=is_incoming)
    tax = find_standard_tax(
        TaxSettings(Decimal(standard), frozenset(countries)),
        from_to=from_to,
        description=description,
        is_incoming=is_incoming,
        pl_type=pl_type,
        kind=kind,
    )
    return tax and (tax.percent and f"{tax.percent}", tax.basis.value)


@pytest.mark.parametrize(
    ("from_to", "description", "is_incoming", "pl_type", "expected"),
    [
        # Kinds of payments that include VAT.
        ("Telekom Deutschland GmbH", "Mobilfunk RG 09/2026", OUT, "ga", STANDARD),
        ("Telefónica Germany", "DSL Anschluss", OUT, "ga", STANDARD),
        ("Stadtwerke Köln", "Abschlag Strom Oktober", OUT, "ga", STANDARD),
        ("Büro & Mehr GmbH", "Bürobedarf RG 556677", OUT, "ga", STANDARD),
        ("", "IKEA KOELN-GODORF", OUT, "ga", STANDARD),
        ("Reinigung Sauber GmbH", "Büroreinigung Oktober", OUT, "ga", STANDARD),
        ("Shell Deutschland", "Tankkarte Sept", OUT, "ga", STANDARD),
        ("Druckhaus Rhein", "Flyer Messe RG 88123", OUT, "cac", STANDARD),
        ("Steuerkanzlei Hagen & Partner", "Buchhaltung September", OUT, "ga", STANDARD),
        ("Hetzner Online GmbH", "Server 09/2026", OUT, "cogs", STANDARD),
        ("", "HETZNER ONLINE GUNZENHAUSEN", OUT, "cogs", STANDARD),
        ("DATEV eG", "Rechnung 77100233", OUT, "ga", STANDARD),
        ("Amazon Business EU", "Tastaturen, Kabel 302-99812", OUT, "ga", STANDARD),
        # Goods of its branch in Germany have German VAT; those of sellers may have none.
        ("Amazon EU S.a.r.l.", "Bestellung 302-221", OUT, "ga", NOTHING),
        ("StepStone Deutschland GmbH", "Stellenanzeige", OUT, "ga", STANDARD),
        ("", "MEDIA MARKT KOELN", OUT, "ga", STANDARD),
        ("", "MEDIA MARKT WIEN", OUT, "ga", NOTHING),
        ("Gebaeudereinigung Glanz", "Reinigung Oktober RE 7", OUT, "ga", STANDARD),
        ("Autohaus Sommer Leasing", "Leasingrate K-ND 25 Oktober", OUT, "ga", STANDARD),
        ("Agentur Westwind GmbH", "Kampagne Herbst RE 7", OUT, "cac", STANDARD),
        ("Agentur Westwind Wien", "Kampagne Herbst RE 7", OUT, "cac", NOTHING),
        ("LinkedIn Ireland", "LinkedIn Recruiter Okt", OUT, "ga", ABROAD),
        ("", "AMAZON ADVERTISING EU SARL", OUT, "cac", ABROAD),
        # Suppliers abroad; vendors that sell across borders, and whose name says no country.
        ("Slack Technologies Ltd", "Slack Business+", OUT, "ga", ABROAD),
        ("Amazon Web Services EMEA SARL", "AWS EMEA", OUT, "cogs", ABROAD),
        ("Adobe Systems Software Ireland", "Creative Cloud", OUT, "ga", ABROAD),
        ("", "GITHUB INC", OUT, "pd", ABROAD),
        ("", "FACEBK ADS", OUT, "cac", ABROAD),
        ("Clean Office B.V.", "Büroreinigung", OUT, "ga", ABROAD),
        ("", "NOTION LABS", OUT, "ga", NOTHING),
        ("", "CLAUDE.AI ANTHROPIC", OUT, "pd", NOTHING),
        # Freelancers may be small businesses, or abroad.
        ("Jana Wolf", "Honorar September", OUT, "pd", NOTHING),
        ("Jana Wolf", "Honorar September IBAN DE89 3704 0044 0532 0130 00", OUT, "pd", STANDARD),
        ("Jana Wolf", "Honorar September DE89370400440532013000", OUT, "pd", STANDARD),
        ("Jana Wolf", "Honorar September BE71096123456769", OUT, "pd", NOTHING),
        ("Jana Wolf", "Honorar September USt-IdNr. DE123456789", OUT, "pd", NOTHING),
        ("Wolf IT UG", "Honorar September", OUT, "pd", STANDARD),
        ("Freelance Dev Nowak Ltd", "Invoice 10/26", OUT, "pd", ABROAD),
        # Kinds without VAT, and those with several rates.
        ("Anna Becker", "Gehalt Oktober 2026", OUT, "ga", NOTHING),
        ("AOK Rheinland/Hamburg", "Beitrag 10/2026", OUT, "ga", NOTHING),
        ("Finanzamt Köln-Mitte", "LOHNST SEPT.26", OUT, "ga", NOTHING),
        ("Finanzamt Köln-Mitte", "UMS.ST SEPT.26", OUT, "neutral", NOTHING),
        ("Allianz Versicherungs-AG", "Betriebshaftpflicht", OUT, "ga", NOTHING),
        ("IHK Köln", "Beitrag 2026", OUT, "ga", NOTHING),
        ("Deutsche Post AG", "Porto Frankierkarte", OUT, "ga", NOTHING),
        ("Sparkasse", "Entgeltabschluss", OUT, "ga", NOTHING),
        ("Sparkasse", "Sollzinsen", OUT, "no", NOTHING),
        ("Hausverwaltung Beck GbR", "Miete Büro Oktober", OUT, "ga", NOTHING),
        # Meals and drinks have different rates from 2026 on.
        ("", "RESTAURANT HAXENHAUS KOELN", OUT, "ga", NOTHING),
        ("Hauptzollamt Köln", "Kfz-Steuer K-ND 25", OUT, "ga", NOTHING),
        ("Somebody", "Something", OUT, "ga", NOTHING),
        ("Lufthansa AG", "Flug CGN-MUC", OUT, "ga", NOTHING),
        ("Bäckerei Klein", "Catering Kundenworkshop", OUT, "ga", NOTHING),
        # The reduced rate of Germany.
        ("DB Vertrieb GmbH", "Bahn-Tickets Auftrag 7XK2P9", OUT, "ga", REDUCED),
        ("", "DB VERTRIEB GMBH FRANKFURT", OUT, "ga", REDUCED),
        ("Deutsche Bahn AG", "BahnCard Business", OUT, "ga", REDUCED),
        ("BVG / VRS Jobtickets", "Jobticket Oktober 12 Personen", OUT, "ga", REDUCED),
        ("Arbeitgeber-Service GmbH", "Deutschlandticket Rechnung 7", OUT, "ga", REDUCED),
        ("Motel One Berlin", "Übernachtung 2 Naechte R 77120", OUT, "ga", REDUCED),
        ("Hotel Adlon GmbH", "Rechnung 881, 2 Übernachtungen", OUT, "ga", REDUCED),
        ("Verlag Nord GmbH", "Fachbuch Rechnung 7", OUT, "ga", REDUCED),
        ("DB Vertrieb GmbH", "Bordbistro", OUT, "ga", NOTHING),
        ("DB Vertrieb GmbH", "Ticket Köln-Paris", OUT, "ga", NOTHING),
        ("DB Vertrieb GmbH", "Erstattung Ticket", IN, "ga", NOTHING),
        ("Hotel Adlon GmbH", "Rechnung 881", OUT, "ga", NOTHING),
        ("Hotel Adlon GmbH", "Übernachtung mit Frühstück", OUT, "ga", NOTHING),
        ("Hotel Bristol", "Übernachtung Wien", OUT, "ga", NOTHING),
        ("Hotel Bristol Wien", "2 Übernachtungen", OUT, "ga", NOTHING),
        ("Motel One Austria GmbH", "2 Übernachtungen", OUT, "ga", NOTHING),
        ("Booking.com", "Übernachtung", OUT, "ga", NOTHING),
        ("Airbnb", "Übernachtung", OUT, "ga", NOTHING),
        ("", "BVG APP BERLIN", OUT, "ga", REDUCED),
        ("", "TAXI KOELN FUNK", OUT, "ga", REDUCED),
        ("Taxi Huber", "Fahrt 12.10.", OUT, "ga", REDUCED),
        ("", "MOTEL ONE LEIPZIG", OUT, "ga", REDUCED),
        ("", "THALIA BUCHHANDLUNG KOELN", OUT, "ga", REDUCED),
        ("Thalia", "", OUT, "ga", REDUCED),
        ("Taxi Huber", "Kurierfahrt 12.10.", OUT, "ga", NOTHING),
        ("", "TAXI WIEN 7", OUT, "ga", NOTHING),
        ("", "MOTEL ONE WIEN", OUT, "ga", NOTHING),
        ("Motel One Berlin", "2 Frühstück", OUT, "ga", NOTHING),
        ("", "THALIA BUCHHANDLUNG WIEN", OUT, "ga", NOTHING),
        ("", "THALIA BUCHHANDLUNG Gutschein", OUT, "ga", NOTHING),
        ("Verlag Nord B.V.", "Fachbuch Rechnung 7", OUT, "ga", NOTHING),
        ("Motel One Berlin", "Übernachtung inkl. 19 % MwSt", OUT, "ga", ("19", "stated")),
        # Lines without VAT.
        ("Hetzner Online GmbH", "Server inkl. 19 % MwSt", OUT, "no", NOTHING),
        ("Hetzner Online GmbH", "Server", OUT, "neutral", NOTHING),
        # Revenue, refunds and payouts.
        ("Müller & Söhne GmbH", "RE-2026-0188", IN, "revenue", STANDARD),
        ("Vogel Consulting", "Zahlung wie besprochen", IN, "revenue", STANDARD),
        ("Kita-App UG", "Abo Oktober", IN, "revenue", STANDARD),
        ("Praxis Dr. Lorenz", "Workshop", IN, "revenue", STANDARD),
        ("Novatec B.V.", "Invoice 7", IN, "revenue", ABROAD),
        ("Stripe Technology Europe Ltd", "STRIPE PAYOUT SaaS Abos", IN, "revenue", NOTHING),
        ("Stripe Technology Europe Ltd", "STRIPE PAYOUT", IN, "revenue", NOTHING),
        ("PayPal (Europe) S.à r.l.", "Abbuchung", IN, "revenue", NOTHING),
        ("Müller & Söhne GmbH", "Gutschrift RE-2026-0188", OUT, "revenue", NOTHING),
        ("Telekom Deutschland GmbH", "Erstattung", IN, "ga", NOTHING),
        ("Sparkasse", "Habenzinsen", IN, "revenue", NOTHING),
        # A rate in the text comes first.
        ("Bäckerei Klein", "Catering inkl. 7% USt", OUT, "ga", ("7", "stated")),
        ("Verlag AG", "Fachbuch, 7 % MwSt.", OUT, "ga", ("7", "stated")),
        ("Slack Technologies Ltd", "VAT 20%", OUT, "ga", ("20", "stated")),
        ("Telekom Deutschland GmbH", "7 % MwSt und 19 % MwSt", OUT, "ga", NOTHING),
        ("Telekom Deutschland GmbH", "0 % MwSt", OUT, "ga", NOTHING),
        ("Telekom Deutschland GmbH", "MwSt 31 %", OUT, "ga", NOTHING),
        ("Telekom Deutschland GmbH", "Rabatt 7 %", OUT, "ga", STANDARD),
    ],
)
def test_tax_of_a_german_company(from_to, description, is_incoming, pl_type, expected):
    assert suggest(from_to, description, is_incoming, pl_type) == expected


@pytest.mark.parametrize("countries", [["AT"], [], ["DE", "AT", "CH", "LI"]])
def test_reduced_rate_needs_a_company_in_a_known_country(countries):
    assert suggest("DB Vertrieb GmbH", "Bahn-Tickets", OUT, "ga", countries=countries) is None


@pytest.mark.parametrize(
    ("name", "countries", "expected"),
    [
        ("Clean Office Ltd", ["GB"], ("20", "standard")),
        ("Clean Office Ltd", ["IE"], ("20", "standard")),
        ("Clean Office Ireland Ltd", ["GB"], (None, "abroad")),
        ("Sauber GmbH", ["GB"], (None, "abroad")),
        ("Sauber GmbH", ["AT"], ("20", "standard")),
        ("Sauber Deutschland GmbH", ["AT"], (None, "abroad")),
        ("Clean Office Ltd & Co. KG", ["DE"], ("20", "standard")),
        ("Wellness Spa Köln", ["DE"], ("20", "standard")),
        ("Pulito S.p.A.", ["DE"], (None, "abroad")),
        ("Pulito S.p.A.", ["IT"], ("20", "standard")),
        ("Sauber GmbH", [], None),
        ("Sauber", [], ("20", "standard")),
    ],
)
def test_party_is_abroad_by_legal_form_and_country(name, countries, expected):
    kind = PaymentKind.CLEANING
    assert suggest(name, "", OUT, "ga", kind=kind, standard="20", countries=countries) == expected


@pytest.mark.parametrize(
    ("text", "percents"),
    [
        ("19 % MwSt", {"19"}),
        ("inkl. 7% USt", {"7"}),
        ("VAT 20%", {"20"}),
        ("MwSt 19%", {"19"}),
        ("MwSt.: 8,1 %", {"8.1"}),
        ("19% ges. MwSt", {"19"}),
        ("19,00 % Umsatzsteuer", {"19.00"}),
        ("TVA (20 %)", {"20"}),
        ("19 Prozent Mehrwertsteuer", {"19"}),
        ("7 % USt, 19 % USt", {"7", "19"}),
        ("USt-IdNr. DE123456789", set()),
        ("Rechnung 19", set()),
        ("Ust 2026", set()),
        ("Private 20 %", set()),
        ("Rate 119 % Ustinov", set()),
    ],
)
def test_stated_rates_are_read_from_the_text(text, percents):
    assert find_stated_percents(text) == {Decimal(percent) for percent in percents}


@pytest.mark.parametrize(
    ("name", "time_zone", "expected"),
    [
        ("Acme Ltd", "Europe/Berlin", {"DE"}),
        ("Acme GmbH", "UTC", {"DE", "AT", "CH", "LI"}),
        ("Acme", "UTC", set()),
        ("Acme Inc", "America/New_York", {"US", "CA"}),
    ],
)
def test_country_of_a_company_is_its_time_zones(name, time_zone, expected):
    assert find_company_countries(name, time_zone) == expected


def test_standard_rates_are_those_of_27_members_and_three_neighbours():
    assert len(COUNTRY_TAXES) == 30
    assert COUNTRY_BY_TIME_ZONE.keys() <= available_timezones()
    assert [str(find_zone_tax_percent(f"Europe/{city}")) for city in ("Berlin", "Zurich", "Helsinki")] == [
        *("19", "8.1", "25.5")
    ]
    assert find_zone_tax_percent("Atlantic/Canary") is None
    assert all(0 < tax.percent < 30 for tax in COUNTRY_TAXES.values())


NAMES = st.text("abcdefg", min_size=3).map(str.title)


@given(NAMES, st.sampled_from(sorted(LEGAL_FORM_COUNTRIES)), st.sampled_from(sorted(COUNTRY_WORDS)))
def test_country_word_never_widens_what_the_legal_form_allows(name, form, country):
    by_form, by_both = find_name_countries(f"{name} {form}"), find_name_countries(f"{name} {country} {form}")
    assert by_form == LEGAL_FORM_COUNTRIES[form]
    assert by_both <= by_form


@given(
    st.text(max_size=30),
    st.text(max_size=60),
    st.booleans(),
    st.sampled_from(["revenue", "cogs", "cac", "pd", "ga", "no", "neutral"]),
    st.sampled_from([None, *PaymentKind]),
)
def test_no_rate_is_suggested_for_untaxed_lines_and_kinds(from_to, description, is_incoming, pl_type, kind):
    tax = find_standard_tax(
        TaxSettings(Decimal(19), frozenset(["DE"])),
        from_to=from_to,
        description=description,
        is_incoming=is_incoming,
        pl_type=pl_type,
        kind=kind,
    )
    is_taxed = (is_incoming and (kind is None or kind in REVENUE_KINDS)) or kind in {*TAXED_KINDS, *REDUCED_KINDS}
    if pl_type in ("no", "neutral") or (not is_taxed and not find_stated_percents(f"{from_to} {description}")):
        assert tax is None
    if tax:
        assert tax.percent is None or 0 < tax.percent <= 30

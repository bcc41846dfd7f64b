"""The kind of a payment by its texts, and the category that fits it."""

from uuid import UUID

import pytest

from ledger.inbox.proposal_basis import PAYMENT_KIND_EXPLANATIONS
from ledger.rules.calc.kind_categories import KIND_CATEGORIES, CategoryOption, find_kind_category
from ledger.rules.calc.payment_kind_matcher import find_payment_kind
from ledger.rules.calc.payment_kinds import PaymentKind

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
        ("Finanzamt Köln-Mitte", "FOLGELASTSCHRIFT UMS.ST SEPT.26 StNr 215/5123 Umsatz gebucht", OUT, "vat"),
        ("Finanzamt Köln-Mitte", "UmsSt 09/26", OUT, "vat"),
        ("Finanzamt Köln-Mitte", "USt. 09/26", OUT, "vat"),
        ("Finanzamt Köln-Mitte", "LOHNST SEPT.26", OUT, "wageTax"),
        ("Finanzamt Köln-Mitte", "LSt. SolZ KiSt 09/26", OUT, "wageTax"),
        ("Finanzamt Köln-Mitte", "KSt. SolZ 3/26", OUT, "incomeTax"),
        ("Finanzamt Köln-Mitte", "SolZ 3/26", OUT, "incomeTax"),
        ("Finanzamt Köln-Mitte", "Kap.ESt 2026", OUT, "incomeTax"),
        ("Stadt Köln", "GewSt. 3. Rate", OUT, "incomeTax"),
        ("Finanzamt Köln-Mitte", "KSt Q3", OUT, "incomeTax"),
        ("Stadt Köln", "Gewerbesteuer 3. Rate", OUT, "incomeTax"),
        ("Finanzamt München", "StNr 143/123/45678", OUT, "tax"),
        ("Finanzamt München", "LSt 4120,55 USt 6230,00", OUT, "tax"),
        ("Immobilien Huber GmbH & Co. KG", "Miete Büro Oktober", OUT, "rent"),
        ("City Offices Ltd", "Office rent October", OUT, "rent"),
        ("", "Bueromiete", OUT, "rent"),
        ("Allianz Versicherungs-AG", "Beitrag 2026", OUT, "insurance"),
        ("Hiscox Insurance Company", "Policy 7", OUT, "insurance"),
        ("IHK Köln", "Beitrag 2026 Mitgl 4455", OUT, "membership"),
        ("Bitkom e.V.", "Mitgliedsbeitrag 2026 Rechnung 7", OUT, "membership"),
        ("Deutsche Post AG", "Porto Frankierkarte", OUT, "postage"),
        ("Kiosk Huber", "Porto Oktober", OUT, "postage"),
        ("", "PORTO", OUT, "postage"),
        ("Hotel Ribeira", "Porto", OUT, "travel"),
        ("Immobilien Huber GmbH", "Raumkosten Oktober", OUT, "rent"),
        ("Büro & Mehr GmbH", "Bürobedarf RG 556677", OUT, "officeSupplies"),
        ("", "IKEA KOELN-GODORF", OUT, "officeSupplies"),
        ("Reinigung Sauber GmbH", "Büroreinigung Oktober Rechnung 1044", OUT, "cleaning"),
        ("Shell Deutschland", "Tankkarte Sept RG 120034", OUT, "vehicle"),
        ("Autohaus Weber", "Leasing Poolfahrzeug K-ND 25 Okt", OUT, "vehicle"),
        ("Vermieter Stellplatz Kühn", "Stellplatz 3 Oktober", OUT, "rent"),
        ("Parkraum Nord GmbH", "Stellplatzmiete Rechnung 7", OUT, "rent"),
        ("City Parking Ltd", "Parking space October", OUT, "rent"),
        ("Parkhaus am Dom", "Ticket 7", OUT, "vehicle"),
        ("Telekom Deutschland GmbH", "Rechnung 10/2026", OUT, "telecom"),
        ("1&1 Telecom GmbH", "Kd.Nr. 1", OUT, "telecom"),
        ("Vodafone", "", OUT, "telecom"),
        ("Stadtwerke München GmbH", "Abschlag 10/2026", OUT, "energy"),
        ("Stadtwerke Köln", "Abschlag Strom", OUT, "energy"),
        ("E.ON Energie Deutschland GmbH", "", OUT, "energy"),
        ("Hausverwaltung Maier", "Stromabschlag Oktober", OUT, "energy"),
        ("Rheinenergie Wärme", "Abschlag Heizung Oktober", OUT, "energy"),
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
        ("Bäckerei Klein", "Catering Kundenworkshop", OUT, "entertainment"),
        ("Messe Köln GmbH", "Standmiete Digital X RG 900812", OUT, "advertising"),
        ("Druckhaus Rhein", "Flyer Messe RG 88123", OUT, "advertising"),
        ("LinkedIn Ireland", "LinkedIn Ads Okt", OUT, "advertising"),
        ("LinkedIn Ireland", "LinkedIn Recruiter Okt", OUT, "recruiting"),
        ("StepStone Deutschland GmbH", "", OUT, "recruiting"),
        ("Weber Medien GmbH", "Stellenanzeige Rechnung 7", OUT, "recruiting"),
        ("O2 Business GmbH", "Mobilfunk RG 7788", OUT, "telecom"),
        ("Handy Huber", "Mobilfunkrechnung 11/26", OUT, "telecom"),
        ("Freelance Dev Tomasz Nowak", "Rechnung 10/26", OUT, "freelancers"),
        ("Jana Wolf", "Honorar September", OUT, "freelancers"),
        ("Steuerkanzlei Meyer", "Honorar September", OUT, "taxAdvice"),
        ("Amazon Business EU SARL", "Bestellung 302-221", OUT, "officeSupplies"),
        ("Amazon Business EU", "Tastaturen, Kabel 302-99812", OUT, "officeSupplies"),
        ("", "AMZN Mktp DE*2K41", OUT, "officeSupplies"),
        ("AMAZON.DE", "302-221", OUT, "officeSupplies"),
        ("Amazon", "Bestellung Tastatur", OUT, "officeSupplies"),
        ("Amazon EU S.a.r.l.", "AWS Rechnung 7", OUT, "hosting"),
        ("Amazon", "Amazon Web Services", OUT, "hosting"),
        ("Amazon Advertising EU", "", OUT, "advertising"),
        ("Microsoft Ireland Operations Limited", "Azure 10/2026", OUT, "hosting"),
        ("Microsoft Ireland Operations Limited", "Microsoft 365 Business", OUT, "officeSoftware"),
        ("Microsoft Ireland Operations Limited", "Microsoft Advertising", OUT, "advertising"),
        ("", "APPLE SEARCH ADS", OUT, "advertising"),
        ("Meta Platforms Ireland Limited", "", OUT, "advertising"),
        ("DHL Paket GmbH", "Rechnung 7", OUT, "postage"),
        ("BVG / VRS Jobtickets", "Jobticket Oktober 12 Personen", OUT, "travel"),
        ("BVG", "Abo 7", OUT, "travel"),
        ("Deutsche Bahn AG", "BahnCard Business", OUT, "travel"),
        ("Verlag Nord GmbH", "Fachbuch Rechnung 7", OUT, "books"),
        ("Thalia", "", OUT, "books"),
        # Card statements: one text, with a city, a trip or an address behind the name
        ("GITHUB.COM", "San Francisco", OUT, "developmentSoftware"),
        ("", "GITHUB INC", OUT, "developmentSoftware"),
        ("", "Kartenzahlung GITHUB.COM SAN FRANCISCO", OUT, "developmentSoftware"),
        ("", "UBER *TRIP", OUT, "travel"),
        ("UBER   *TRIP HELP.UBER.COM", "", OUT, "travel"),
        ("", "CLAUDE.AI ANTHROPIC", OUT, "developmentSoftware"),
        ("", "OPENAI *CHATGPT SUBSCR", OUT, "developmentSoftware"),
        ("", "RESTAURANT HAXENHAUS KOELN", OUT, "entertainment"),
        ("", "TAXI KOELN", OUT, "travel"),
        ("", "NOTION LABS", OUT, "officeSoftware"),
        ("NOTION LABS, INC. 548 MARKET ST", "", OUT, "officeSoftware"),
        ("", "APPLE.COM/BILL", OUT, "officeSoftware"),
        ("", "CANVA* I04123-77", OUT, "officeSoftware"),
        ("LUFTHANSA KOELN", "", OUT, "travel"),
        ("", "RYANAIR 2241 DUBLIN", OUT, "travel"),
        ("", "BOOKING.COM HOTEL MUENCHEN", OUT, "travel"),
        ("BOOKING.COM AMSTERDAM", "", OUT, "travel"),
        ("DB VERTRIEB GMBH FRANKFURT", "", OUT, "travel"),
        ("Motel One Berlin", "Übernachtung 2 Naechte", OUT, "travel"),
        ("", "FACEBK *ADS", OUT, "advertising"),
        ("", "HETZNER ONLINE GUNZENHAUSEN", OUT, "hosting"),
        ("", "FREMDWÄHRUNGSENTGELT", OUT, "bankFees"),
        ("AWS EMEA SARL", "Invoice 1849221", OUT, "hosting"),
        ("Amazon Web Services EMEA SARL", "", OUT, "hosting"),
        ("Hetzner Online GmbH", "Rechnung R0022334", OUT, "hosting"),
        ("Google Cloud EMEA Limited", "", OUT, "hosting"),
        ("", "GOOGLE *CLOUD 4X7QK2", OUT, "hosting"),
        ("Google Cloud EMEA Limited", "Google Workspace nordwerk.example", OUT, "officeSoftware"),
        ("Google Ireland Limited", "Google Ads 8891-2231", OUT, "advertising"),
        ("Google Ireland Ltd.", "Workspace Business", OUT, "officeSoftware"),
        ("GitHub, Inc.", "Team plan", OUT, "developmentSoftware"),
        ("Slack Technologies Limited", "Invoice SBIE-221", OUT, "officeSoftware"),
        ("DATEV eG", "Rechnung 44211", OUT, "officeSoftware"),
        ("Kanzlei Maier Steuerberatungsgesellschaft mbH", "Rechnung 2026-881", OUT, "taxAdvice"),
        ("", "Entgeltabschluss Kontoführung", OUT, "bankFees"),
        ("Sparkasse", "Bank charges Q3", OUT, "bankFees"),
        ("KfW", "Tilgung Darlehen 4711", OUT, "loan"),
        ("KfW", "Darlehen 4711 Auszahlung", IN, "loan"),
        ("", "Sollzinsen 3. Quartal", OUT, "interest"),
        ("Sparkasse KölnBonn", "FOLGELASTSCHRIFT Sollzinsen Kontokorrent III/26 Umsatz gebucht", OUT, "interest"),
        ("Sparkasse KölnBonn", "ENTGELTABSCHLUSS Entgeltabrechnung siehe Anlage Umsatz gebucht", OUT, "bankFees"),
        ("Sparkasse KölnBonn", "Darlehen 6001 Rate 10/26 Tilgung 1.850,00 Zins 212,50", OUT, "loan"),
        ("Anna Becker", "LOHN  GEHALT 10.2026 Umsatz gebucht", OUT, "salary"),
        ("Mastercard Abrechnung", "Kreditkartenabrechnung 5412********1188 09/2026", OUT, "cardSettlement"),
        ("Mastercard Abrechnung", "5412********1188 09/2026", OUT, "cardSettlement"),
        ("Sparkasse KölnBonn", "Kreditkartenabrechnung Rechnung 09/2026", OUT, "cardSettlement"),
        ("Kartenabrechnung", "", OUT, "cardSettlement"),
        ("", "VISA-ABRECHNUNG 10/2026", OUT, "cardSettlement"),
        ("Barclays", "Credit card settlement October", OUT, "cardSettlement"),
        ("", "Credit Card Payment", OUT, "cardSettlement"),
        ("CREDIT CARD PAYMENT", "", OUT, "cardSettlement"),
        ("", "ZAHLUNG/ÜBERWEISUNG ERHALTEN BESTEN DANK", IN, "cardPaymentReceived"),
        ("Zahlung/Überweisung erhalten", "", IN, "cardPaymentReceived"),
        ("Zahlung erhalten", "Vielen Dank", IN, "cardPaymentReceived"),
        ("", "PAYMENT RECEIVED - THANK YOU", IN, "cardPaymentReceived"),
        ("Novatec AG", "Rechnung RE-2026-1002", IN, "customerPayment"),
        ("Novatec AG", "Gutschrift Überweisung Rechnung RE-2026-1002", IN, "customerPayment"),
        ("Kita-App UG", "GUTSCHR. UEBERWEISUNG Abo Oktober KD 2201", IN, "subscriptionRevenue"),
        ("Stripe Technology Europe Ltd", "STRIPE PAYOUT po_1Q8x SaaS Abos", IN, "subscriptionRevenue"),
        ("Brandt Logistik GmbH", "Wartungsvertrag Q4", IN, "subscriptionRevenue"),
        ("Northwind Ltd", "Invoice 7 annual plan", IN, "subscriptionRevenue"),
        ("Autohaus Nord KG", "Ueberweisung Projekt Konfigurator", IN, "projectRevenue"),
        ("Praxis Dr. Lorenz", "Onboarding Rechnung 2026-0194", IN, "projectRevenue"),
        ("Northwind Ltd", "Set-up fee, invoice 7", IN, "projectRevenue"),
        # A subscription and a project: the text leaves open for what.
        ("Novatec AG", "Rechnung 7 Workshop und Lizenzen", IN, "customerPayment"),
        ("Stripe Payments Europe Ltd", "STRIPE PAYOUT Workshop und Lizenzen", IN, "customerPayment"),
        ("Stripe Payments Europe Ltd", "STRIPE PAYOUT", IN, "subscriptionRevenue"),
        ("Mollie B.V.", "Payout 7", IN, "customerPayment"),
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
        ("", "TK MAXX KOELN", OUT),
        ("", "AWS SCHMIDT KOELN", OUT),
        ("", "SLACKLINE SHOP KOELN", OUT),
        ("Slack Sportartikel Köln", "", OUT),
        ("", "CONDOR FAHRRADHAUS", OUT),
        ("", "UBERLINGEN THERME", OUT),
        ("Uber Eck Café", "", OUT),
        ("Notion Möbel", "Stuhl", OUT),
        ("Hetzner Elektro", "Steckdosen", OUT),
        ("", "APPLE STORE KOELN", OUT),
        ("Booking Agentur Weber", "Auftritt", OUT),
        ("Lufthansa Technik AG", "Wartung", OUT),
        ("Lufthansa WorldShop", "Koffer", OUT),
        ("Adobe Lehmbau", "Putz", OUT),
        ("GitHub Training Weber", "Kurs", OUT),
        ("", "Ein Restaurant in Köln", OUT),
        ("", "RESTAURANT SOFTWARE LIZENZ", OUT),
        ("Weber Design", "GitHub Seite", OUT),
        # Vendors of several kinds: without words for one, the name leaves it open.
        ("LinkedIn Ireland", "", OUT),
        ("LinkedIn Ireland", "LinkedIn Premium", OUT),
        ("Microsoft Ireland Operations Limited", "Rechnung E0600", OUT),
        ("Apple Distribution International Ltd", "", OUT),
        ("Meta", "", OUT),
        ("PayPal (Europe) S.a.r.l.", "Ihr Einkauf bei Weber", OUT),
        ("", "PAYPAL *WEBER", OUT),
        ("Amazon Payments Europe", "Bestellung bei Weber", OUT),
        ("", "AMAZON PRIME", OUT),
        ("Amazon EU S.a.r.l.", "Amazon Prime Mitgliedschaft", OUT),
        ("DHL Freight GmbH", "Transport 7", OUT),
        ("Uber", "Uber Eats Bestellung", OUT),
        ("", "UBER *EATS", OUT),
        ("Bolt", "Bolt Food", OUT),
        ("Deutsche Bank AG", "Zahlung 7", OUT),
        ("DB Connect GmbH", "Call a Bike", OUT),
        ("IHK Köln", "Prüfungsgebühr", OUT),
        ("IHK Akademie GmbH", "Beitrag Seminar", OUT),
        ("Deutsche Post Immobilien GmbH", "Miet-Nr. 7", OUT),
        ("Rechenzentrum Nord", "Stellplatz Rack 7", OUT),
        ("Airline", "Frequent Flyer", OUT),
        ("Shell Zubehör Weber", "Muscheln", OUT),
        ("Büromaterial Software GmbH", "Lizenz", OUT),
        ("Vermieter", "Erstattung Stellplatz", OUT),
        ("TK Elevator GmbH", "Wartung", OUT),
        ("Parkhaus Messe", "Stellplatz Messe Erstattung", IN),
        ("Kartenabrechnung Service GmbH", "Wartung Terminal", OUT),
        ("Terminal Nord GmbH", "Kartenabrechnung Entgelt 09/2026", OUT),
        ("Terminal Nord GmbH", "Kartenabrechnung 09/2026", IN),
        ("Amazon", "Credit card payment 302-99812", OUT),
        ("", "CREDIT CARD PAYMENT AMAZON", OUT),
        ("", "Kartenzahlung Visa Weber", OUT),
        ("Weber Beratung", "Abrechnung Visa Beratung", OUT),
        ("Weber GmbH", "Zahlung erhalten", IN),
        ("", "Zahlung erhalten", OUT),
        ("", "Zahlung erhalten Weber", IN),
        ("", "Zahlung erhalten von Novatec AG", IN),
        ("Zahlung erhalten", "Rechnung 7", OUT),
        ("Terminal Nord GmbH", "Abrechnung Visa Disagio 09/2026", OUT),
        ("Lohn & Gehalt Service GmbH", "Oktober", OUT),
        ("Lohn Partner GmbH", "", OUT),
        ("Hans Lohn", "", OUT),
        ("Jonathan Rent", "", OUT),
        ("DATEX GmbH", "Lohn und Gehalt Software", OUT),
        ("Payroll Experts Ltd", "Payroll service", OUT),
        ("Peter Kurz", "Rechnung 12 Lohnsteuer Beratung", OUT),
        ("Anna Schneider", "Gehalt Rückzahlung", IN),
        ("Adobe Systems Software Ireland", "Erstattung doppelt belastete Lizenz", IN),
        ("Novatec AG", "Workshop und Lizenzen", IN),
        ("Novatec AG", "Abonnent 7", IN),
        ("BAFA", "Zuschuss Beratung 7", IN),
        ("Projektträger", "Förderung Projekt 7", IN),
        ("Consulting Weber", "", IN),
        ("Workshop Berlin", "Projekt 7", OUT),
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


def test_long_texts_are_read_up_to_a_limit():
    """Suggestions for hundreds of rows with the longest texts would take seconds otherwise."""
    for padding, kind in ((400, "rent"), (500, None)):
        text = "x" * padding + " Miete Oktober"
        assert find_payment_kind(from_to="Hausverwaltung", description=text, is_incoming=False) == kind


def test_own_category_by_name_wins_over_the_system_category():
    options = [OFFICE_OPTION, CategoryOption(RENT, "Büromiete", None, ("ga",))]
    assert find_kind_category(PaymentKind.RENT, options) == (RENT, "ga")
    assert find_kind_category(PaymentKind.RENT, options[:1]) == (OFFICE, "ga")


@pytest.mark.parametrize(
    ("kind", "names", "expected"),
    [
        (PaymentKind.RENT, ["Miete und Raumkosten"], 0),
        (PaymentKind.INSURANCE, ["Versicherungen und Beiträge"], 0),
        (PaymentKind.MEMBERSHIP, ["Versicherungen und Beiträge"], 0),
        (PaymentKind.RENT, ["Miete und Raumkosten", "Rent"], 1),
        (PaymentKind.RENT, ["Miete Lager", "Büromiete und Nebenkosten"], 1),
        (PaymentKind.SOCIAL_SECURITY, ["Gehälter", "Sozialversicherung Arbeitgeber"], 1),
        (PaymentKind.SOCIAL_SECURITY, ["Gehälter brutto"], 0),
        (PaymentKind.OFFICE_SOFTWARE, ["Software und Tools"], 0),
        (PaymentKind.POSTAGE, ["Werbung", "Bürobedarf"], 1),
        (PaymentKind.POSTAGE, ["Bürobedarf und Porto", "Office supplies"], 0),
    ],
)
def test_own_category_counts_whose_name_says_more(kind, names, expected):
    options = [CategoryOption(UUID(int=n), name, None, ("ga",)) for n, name in enumerate(names)]
    assert find_kind_category(kind, [OFFICE_OPTION, *options]) == (UUID(int=expected), "ga")


@pytest.mark.parametrize(
    ("kind", "name", "pl_type"),
    [
        (PaymentKind.RENT, "Rent a car", "ga"),
        (PaymentKind.RENT, "Untermiete", "ga"),
        (PaymentKind.RENT, "Miete Einnahmen", "revenue"),
        (PaymentKind.INSURANCE, "Kfz Versicherungen", "ga"),
        (PaymentKind.TRAVEL, "Travel insurance", "ga"),
        (PaymentKind.MEMBERSHIP, "Sozialversicherung Beiträge", "ga"),
        (PaymentKind.OFFICE_SOFTWARE, "Software-Entwicklung", "pd"),
        (PaymentKind.ENERGY, "Energie und Beratung", "ga"),
        (PaymentKind.TELECOM, "Phone cases", "cogs"),
    ],
)
def test_category_of_another_thing_does_not_count(kind, name, pl_type):
    options = [CategoryOption(RENT, name, None, (pl_type,)), OFFICE_OPTION]
    assert find_kind_category(kind, options) == (OFFICE, "ga")


SUBSCRIPTION, PROJECT = PaymentKind.SUBSCRIPTION_REVENUE, PaymentKind.PROJECT_REVENUE
RECURRING, ONE_OFF, OWN, OTHER_OWN = (UUID(int=n) for n in range(11, 15))
REVENUE_OPTIONS = [
    CategoryOption(RECURRING, "Recurring revenue", "revenueRecurring", ("revenue",)),
    CategoryOption(ONE_OFF, "One-off revenue", "revenueOneOff", ("revenue",)),
]


@pytest.mark.parametrize(
    ("kind", "own_names", "expected"),
    [
        (SUBSCRIPTION, [], RECURRING),
        (PROJECT, [], ONE_OFF),
        (SUBSCRIPTION, ["Erlöse Projekte", "Erlöse SaaS"], OTHER_OWN),
        (PROJECT, ["Erlöse Projekte", "Erlöse SaaS"], OWN),
        (PROJECT, ["One-off sales"], OWN),
        (PROJECT, ["Erlöse 19 %"], ONE_OFF),
        # Two that fit: which one is not said.
        (PROJECT, ["Erlöse Projekte", "Workshops"], None),
        (SUBSCRIPTION, ["Abos", "SaaS"], None),
        # A name that says both says neither.
        (PROJECT, ["Lizenzen und Projekte"], ONE_OFF),
        (PaymentKind.CUSTOMER_PAYMENT, ["Erlöse Projekte"], None),
    ],
)
def test_revenue_has_the_only_category_of_its_kind(kind, own_names, expected):
    named_ids = zip((OWN, OTHER_OWN), own_names, strict=False)
    own = [CategoryOption(row_id, name, None, ("revenue",)) for row_id, name in named_ids]
    assert find_kind_category(kind, [*REVENUE_OPTIONS, *own]) == (expected and (expected, "revenue"))


def test_category_of_costs_has_no_revenue():
    options = [*REVENUE_OPTIONS, CategoryOption(OWN, "Beratung", None, ("ga",))]
    assert find_kind_category(PROJECT, options) == (ONE_OFF, "revenue")
    both = CategoryOption(OWN, "Workshops", None, ("ga", "revenue"))
    assert find_kind_category(PROJECT, [*REVENUE_OPTIONS, both]) == (OWN, "revenue")


def test_exact_name_of_another_kind_does_not_count():
    assert find_kind_category(PaymentKind.SALARY, [CategoryOption(PAY, "Payroll tax", None, ("ga",))]) is None
    assert find_kind_category(PaymentKind.SALARY, [CategoryOption(PAY, "Payroll gross", None, ("ga",))]) == (PAY, "ga")


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

"""The table of signs of each kind of payment: names of vendors and words of texts, German and English."""

from ledger.rules.calc.online_vendor_signs import ONLINE_VENDOR_SIGNS
from ledger.rules.calc.payment_kinds import (
    BOOKSHOP_NAMES,
    BOOKSHOP_STARTS,
    EMPLOYEE_TICKETS,
    LOCAL_TRANSPORT_NAMES,
    LOCAL_TRANSPORT_STARTS,
    PaymentKind,
    build_signs,
)
from ledger.rules.calc.revenue_signs import REVENUE_SIGNS

WAGE_TAX_WORDS = (
    *("Lohnsteuer", "Lohnst", "Lohn.St", "LSt", "Lohn- und Kirchensteuer", "wage tax", "payroll tax", "PAYE"),
)
TAX_OFFICES = ("Finanzamt", "Finanzkasse", "Steueramt", "Tax office", "HMRC")
CARD_SETTLEMENT_TEXTS = (
    *("Kreditkartenabrechnung", "Kartenabrechnung", "Kreditkarten Abrechnung", "Kreditkarte Abrechnung"),
    *("Abrechnung Kreditkarte", "Visa Abrechnung", "Abrechnung Visa", "Mastercard Abrechnung"),
    *("Abrechnung Mastercard", "Amex Abrechnung", "American Express Abrechnung", "credit card settlement"),
)
CARD_PAYMENT_RECEIVED_TEXTS = (  # on the card: whole texts, as customers pay too
    *("Zahlung erhalten", "Zahlung erhalten danke", "Zahlung erhalten besten Dank", "Zahlung erhalten vielen Dank"),
    *("Zahlung dankend erhalten", "Überweisung erhalten", "Zahlung Überweisung erhalten"),
    *("Zahlung Überweisung erhalten besten Dank", "Zahlung Überweisung erhalten vielen Dank"),
    *("Payment received thank you", "Payment thank you"),
)
FEE_WORDS = (
    *("Gebühr", "Gebühren", "Servicegebühr", "Entgelt", "Entgelte", "Disagio", "Provision", "Terminal"),
    *("Zinsen", "fee", "fees", "interest"),
)
OFFICE_SHOP_STARTS = (
    *("IKEA", "Viking Direkt", "Otto Office", "Staples", "Media Markt", "MediaMarkt", "Büromarkt Böttcher"),
    *("Conrad Electronic", "Cyberport", "notebooksbilliger", "Office Depot", "Currys", "Ryman"),
)
# Car dealers sell cars too, which are no costs of the month.
CAR_SERVICE_WORDS = (
    *("Leasing", "Leasingrate", "Leasingraten", "Inspektion", "Reparatur", "Werkstatt", "Reifenwechsel", "lease"),
    *("car repair", "car service"),
)
KIND_SIGNS = (
    build_signs(
        PaymentKind.WAGE_TAX,
        name_words=TAX_OFFICES,
        texts=WAGE_TAX_WORDS,
        has_no_legal_form=True,
    ),
    build_signs(
        PaymentKind.VAT,
        name_words=TAX_OFFICES,
        texts=(
            "Umsatzsteuer",
            "Umsatzst",
            "Umsatz.St",
            "UmsSt",
            "Ums.St",
            "USt",
            "USt-Sondervorauszahlung",
            "MwSt",
            "VAT",
        ),
        has_no_legal_form=True,
        is_incoming=None,
    ),
    build_signs(
        PaymentKind.INCOME_TAX,
        name_words=(*TAX_OFFICES, "Stadtkasse", "Gemeindekasse", "Stadt", "Gemeinde"),
        texts=(
            *("Körperschaftsteuer", "Körperschaftssteuer", "Körperschaftst", "Körpersch.St", "KörpSt", "KSt", "KöSt"),
            *("Gewerbesteuer", "Gewerbest", "GewSt", "Gew.St", "Einkommensteuer", "Einkommenst", "ESt"),
            *("Kapitalertragsteuer", "KapESt", "Kap.ESt", "KapSt", "corporation tax", "income tax"),
        ),
        has_no_legal_form=True,
        is_incoming=None,
    ),
    build_signs(
        PaymentKind.INCOME_TAX,
        name_words=TAX_OFFICES,
        texts=("SolZ", "Sol.Z", "Solidaritätszuschlag"),
        except_texts=WAGE_TAX_WORDS,  # it is paid with each of them
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
        PaymentKind.TAX_ADVICE,
        name_words=(
            *("Steuerberater", "Steuerberaterin", "Steuerberatung", "Steuerberatungsgesellschaft", "Steuerkanzlei"),
            *("Chartered Accountants", "Accountants", "Tax advisers", "Tax advisors"),
        ),
    ),
    build_signs(
        PaymentKind.LEGAL_ADVICE,
        name_words=(
            *("Rechtsanwalt", "Rechtsanwältin", "Rechtsanwälte", "Rechtsanwaltsgesellschaft", "Rechtsanwaltskanzlei"),
            *("Anwaltskanzlei", "Notar", "Notarin", "Notariat", "Solicitors", "Law firm"),
        ),
    ),
    build_signs(
        PaymentKind.PROFESSIONAL_SERVICES,
        name_words=("Wirtschaftsprüfer", "Wirtschaftsprüfung", "Wirtschaftsprüfungsgesellschaft", "Auditors"),
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
        PaymentKind.MEMBERSHIP,
        name_words=("IHK", "Industrie- und Handelskammer", "Handwerkskammer", "Chamber of Commerce"),
        texts=("Beitrag", "Beiträge", "Grundbeitrag", "Mitgliedsbeitrag", "membership"),
        has_no_legal_form=True,
    ),
    build_signs(
        PaymentKind.MEMBERSHIP,
        texts=("Mitgliedsbeitrag", "Vereinsbeitrag", "membership fee", "membership fees"),
        is_billed=True,
    ),
    build_signs(
        PaymentKind.TELECOM,
        names=(
            *("Telekom", "Deutsche Telekom", "Vodafone", "O2", "Telefónica", "1&1", "1&1 Telecom", "congstar"),
            *("sipgate", "NetCologne", "M-net", "EWE TEL", "BT", "British Telecommunications", "O2 Business"),
            *("Vodafone Business", "Telekom Business"),
        ),
    ),
    build_signs(
        PaymentKind.TELECOM,
        texts=("Mobilfunk", "Mobilfunkrechnung", "Festnetz", "Internetanschluss", "mobile phone bill"),
        is_billed=True,
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
        texts=(
            *("Stromabschlag", "Abschlag Strom", "Gasabschlag", "Abschlag Gas", "electricity bill"),
            *("Abschlag Heizung", "Abschlag Wärme", "Abschlag Fernwärme", "Heizkosten", "heating bill"),
        ),
    ),
    build_signs(PaymentKind.POSTAGE, name_starts=("Deutsche Post",)),
    build_signs(
        PaymentKind.POSTAGE,
        names=("DHL", "DHL Paket", "DHL Express", "DPD", "GLS", "UPS", "FedEx", "Royal Mail"),
    ),
    build_signs(
        PaymentKind.POSTAGE,
        texts=("Frankierkarte", "Frankierung", "Briefmarken", "Portokosten", "postage"),
        is_billed=True,
    ),
    build_signs(
        PaymentKind.BOOKS,
        texts=(
            *("Fachbuch", "Fachbücher", "Fachliteratur", "Fachzeitschrift", "Fachzeitschriften", "Zeitungsabo"),
            *("Zeitschriftenabo", "trade journal", "newspaper subscription"),
        ),
        is_billed=True,
    ),
    build_signs(PaymentKind.BOOKS, names=BOOKSHOP_NAMES),
    build_signs(PaymentKind.BOOKS, name_starts=BOOKSHOP_STARTS),
    build_signs(PaymentKind.BOOKS, name_words=("Buchhandlung", "Bookshop", "Bookstore")),
    build_signs(PaymentKind.HOSTING, names=("Amazon", "Amazon EU"), texts=("AWS", "Amazon Web Services")),
    build_signs(
        PaymentKind.OFFICE_SUPPLIES,
        name_starts=("Amazon Business", "Amazon Marketplace", "Amazon Mktplace", "Amazon.de", "Amazon EU", "AMZN Mktp"),
        except_texts=("Prime", "Ads", "Advertising", "Kindle", "Audible", "Pay", "Payments"),
    ),
    build_signs(PaymentKind.OFFICE_SUPPLIES, name_starts=OFFICE_SHOP_STARTS),
    build_signs(
        PaymentKind.OFFICE_SUPPLIES,
        texts=(
            *("Bürobedarf", "Büromaterial", "Druckerpapier", "Toner", "Tastatur", "Tastaturen", "Bürostuhl"),
            *("Schreibtisch", "office supplies", "stationery", "keyboard", "keyboards", "printer paper"),
        ),
        is_billed=True,
    ),
    build_signs(
        PaymentKind.CLEANING,
        name_words=(
            *("Gebäudereinigung", "Gebäudereiniger", "Büroreinigung", "Glasreinigung", "Unterhaltsreinigung"),
            *("Office cleaning", "Cleaning services"),
        ),
    ),
    build_signs(
        PaymentKind.CLEANING,
        texts=("Büroreinigung", "Gebäudereinigung", "Unterhaltsreinigung", "Glasreinigung", "office cleaning"),
        is_billed=True,
    ),
    build_signs(
        PaymentKind.VEHICLE,
        names=("Shell", "Aral", "Esso", "TotalEnergies", "DKV Euro Service", "EasyPark", "APCOA", "APCOA Parking"),
    ),
    build_signs(PaymentKind.VEHICLE, name_words=("Tankstelle", "Parkhaus")),
    build_signs(PaymentKind.VEHICLE, name_words=("Autohaus", "Car dealer"), texts=CAR_SERVICE_WORDS),
    build_signs(
        PaymentKind.VEHICLE,
        name_starts=(
            *("Volkswagen Leasing", "VW Leasing", "BMW Leasing", "Mercedes-Benz Leasing", "Sixt Leasing"),
            *("ALD Automotive", "Ayvens", "Arval", "LeasePlan"),
        ),
    ),
    build_signs(
        PaymentKind.VEHICLE,
        texts=(
            *("Tankkarte", "Tankkarten", "Fahrzeugleasing", "Kfz-Leasing", "Leasing Poolfahrzeug", "Leasing Fahrzeug"),
            *("Leasing Firmenwagen", "Leasing Dienstwagen", "Kfz-Steuer", "Kraftfahrzeugsteuer", "fuel card"),
            "vehicle lease",
        ),
        is_billed=True,
    ),
    build_signs(
        PaymentKind.TRAVEL,
        names=(
            *("Deutsche Bahn", "DB Vertrieb", "DB Fernverkehr", "DB AG", "BahnCard", "Trainline", "Eurostar", "SNCF"),
            *("Flixbus", "Flix", "FlixMobility", "Lufthansa", "Deutsche Lufthansa", "Eurowings", "Ryanair", "easyJet"),
            *("British Airways", "KLM", "Air France", "Swiss International Air Lines", "Austrian Airlines", "Condor"),
            *("Booking.com", "HRS", "Airbnb", "Expedia", "Uber", "Free Now", "Bolt", "Sixt", "Europcar", "Hertz"),
            *("Motel One", "Ibis", "Holiday Inn", "Premier Inn", "NH Hotel", "NH Hotels", "Steigenberger"),
            *(*LOCAL_TRANSPORT_NAMES, "RMV", "VRS", "VBB", "VVS"),
        ),
        except_texts=("Eats", "Food"),
    ),
    build_signs(
        PaymentKind.TRAVEL,
        texts=EMPLOYEE_TICKETS,
        is_billed=True,
    ),
    build_signs(
        PaymentKind.TRAVEL,
        name_starts=(
            *("DB Vertrieb", "DB Fernverkehr", "Trainline", "Eurostar", "Lufthansa", "Deutsche Lufthansa"),
            *("Eurowings", "Ryanair", "easyJet", "British Airways", "Booking.com", "Airbnb", "Expedia"),
            *("Uber trip", "Uber pending", "Motel One", "Holiday Inn", "Premier Inn"),
            *("Transport for London", "TfL Travel", *LOCAL_TRANSPORT_STARTS),
        ),
    ),
    build_signs(PaymentKind.TRAVEL, name_words=("Hotel", "Taxi", "Airlines", "Airways")),
    build_signs(PaymentKind.TRAVEL, texts=("Reisekosten", "Reisekostenabrechnung", "travel expenses")),
    build_signs(
        PaymentKind.ENTERTAINMENT,
        name_words=("Restaurant", "Ristorante", "Trattoria", "Osteria", "Pizzeria", "Brauhaus", "Steakhouse"),
    ),
    build_signs(PaymentKind.ENTERTAINMENT, texts=("Bewirtung", "Geschäftsessen", "business lunch", "business dinner")),
    build_signs(PaymentKind.ENTERTAINMENT, texts=("Catering",), is_billed=True),
    build_signs(PaymentKind.ADVERTISING, names=("Google",), texts=("Ads", "AdWords")),
    build_signs(PaymentKind.ADVERTISING, name_words=("Werbeagentur", "Mediaagentur", "Advertising agency")),
    build_signs(
        PaymentKind.ADVERTISING,
        name_words=("Agentur", "Agency"),
        texts=("Kampagne", "Kampagnen", "Werbung", "campaign", "campaigns", "advertising"),
    ),
    *ONLINE_VENDOR_SIGNS,
    build_signs(PaymentKind.RENT, names=("WeWork", "Regus", "Mindspace")),
    build_signs(
        PaymentKind.RENT,
        texts=(
            *("Miete", "Büromiete", "Mietzahlung", "Kaltmiete", "Warmmiete", "Gewerbemiete", "Raummiete", "Raumkosten"),
            *("rent", "office rent"),
        ),
    ),
    build_signs(
        PaymentKind.RENT,
        texts=("Stellplatz", "Stellplatzmiete", "Parkplatzmiete", "parking space"),
        except_texts=("Messe", "Server", "Rack"),
        is_billed=True,
    ),
    build_signs(
        PaymentKind.BANK_FEES,
        texts=(
            *("Kontoführung", "Kontoführungsgebühr", "Kontoführungsgebühren", "Kontoführungsentgelt", "Kontogebühren"),
            *("Bankgebühr", "Bankgebühren", "Entgeltabschluss", "Kontoentgelt", "Buchungsentgelt"),
            *("Fremdwährungsentgelt", "Auslandseinsatzentgelt", "Kreditkartengebühr", "foreign transaction fee"),
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
        PaymentKind.CARD_SETTLEMENT,
        texts=CARD_SETTLEMENT_TEXTS,
        except_texts=FEE_WORDS,
        is_billed=True,
    ),
    build_signs(
        PaymentKind.CARD_SETTLEMENT,
        name_starts=CARD_SETTLEMENT_TEXTS,
        except_texts=FEE_WORDS,
        has_no_legal_form=True,
    ),
    build_signs(PaymentKind.CARD_SETTLEMENT, names=("Credit card payment",)),
    build_signs(
        PaymentKind.CARD_PAYMENT_RECEIVED,
        names=CARD_PAYMENT_RECEIVED_TEXTS,
        except_texts=("Rechnung", "Rechnungsnummer", "Rechnungsnr", "RE", "Rg", "invoice"),
        is_incoming=True,
    ),
    # After travel: a city has the name.
    build_signs(
        PaymentKind.POSTAGE,
        texts=("Porto",),
        except_texts=("Flug", "Flight", "Flughafen", "Airport", "Reise", "Trip", "Portugal"),
        is_billed=True,
    ),
    # Last, since lawyers and tax advisers bill fees too.
    build_signs(PaymentKind.FREELANCERS, name_starts=("Freelance", "Freelancer")),
    build_signs(
        PaymentKind.FREELANCERS,
        texts=("Freelance", "Freelancer", "freie Mitarbeit", "Honorar", "Honorarrechnung", "contractor fee"),
        is_billed=True,
    ),
    *REVENUE_SIGNS,
)

"""The table of signs of each kind of payment: names of vendors and words of texts, German and English."""

from ledger.rules.calc.parties import LEGAL_FORMS
from ledger.rules.calc.payment_kinds import PaymentKind, build_signs

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

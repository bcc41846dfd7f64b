"""The signs of payments by customers: what their texts say they pay for, German and English.

Numbers of bills say nothing about it, nor do texts that name a subscription and a project.
"""

from ledger.rules.calc.payment_kinds import PaymentKind, build_signs

SUBSCRIPTION_WORDS = (
    *("Abo", "Abos", "Abonnement", "Abonnements", "Monatsabo", "Jahresabo", "Abogebühr", "Abogebühren"),
    *("Monatspauschale", "Monatsgebühr", "Jahresgebühr", "Monatstarif", "Jahrestarif"),
    *("Lizenz", "Lizenzen", "Lizenzgebühr", "Lizenzgebühren", "Softwarelizenz", "Monatslizenz", "Jahreslizenz"),
    *("Wartung", "Wartungsvertrag", "Wartungspauschale", "Softwarewartung", "Supportvertrag"),
    *("subscription", "subscriptions", "SaaS", "license", "licenses", "licence", "licences", "license fee"),
    *("monthly plan", "annual plan", "yearly plan", "team plan", "maintenance", "support contract"),
)
PROJECT_WORDS = (
    *("Projekt", "Projekte", "Projektrechnung", "Workshop", "Workshops", "Beratung", "Beratungsleistung"),
    *("Beratungsleistungen", "Beratungshonorar", "Consulting", "Implementierung", "Einrichtung", "Schulung"),
    *("Schulungen", "Onboarding", "Relaunch", "Migration", "einmalig", "Abschlagsrechnung", "Schlussrechnung"),
    *("project", "projects", "implementation", "setup", "set-up", "training", "trainings", "one-off", "one-time"),
)
FUNDING_WORDS = (
    *("Zuschuss", "Förderung", "Fördermittel", "Zuwendung", "Darlehen", "grant", "subsidy", "loan", "funding"),
)
REVENUE_SIGNS = (
    build_signs(
        PaymentKind.SUBSCRIPTION_REVENUE,
        texts=SUBSCRIPTION_WORDS,
        except_texts=(*PROJECT_WORDS, *FUNDING_WORDS),
        is_incoming=True,
    ),
    build_signs(
        PaymentKind.PROJECT_REVENUE,
        texts=PROJECT_WORDS,
        except_texts=(*SUBSCRIPTION_WORDS, *FUNDING_WORDS),
        is_incoming=True,
    ),
    build_signs(
        PaymentKind.SUBSCRIPTION_REVENUE,
        names=("Stripe", "Stripe Payments", "Stripe Technology", "Chargebee", "GoCardless", "Paddle"),
        except_texts=(*PROJECT_WORDS, *FUNDING_WORDS),
        is_incoming=True,
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

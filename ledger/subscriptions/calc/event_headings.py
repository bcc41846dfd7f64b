"""Headings of tables of subscription events, as billing programs write them, and their words for kinds of events."""

from ledger.imports.calc.headings import fold_heading
from ledger.imports.calc.named_columns import rank_headings

# The more specific heading comes first: of several columns for one field it counts.
FIELDS_BY_HEADING = rank_headings({
    "customerExternalId": (
        "customerExternalId", "customer external id", "customer id", "customer uuid", "account id", "Kunden-ID",
        "Kundennummer", "Kundennr.",
    ),
    "customer": (
        "customerName", "customer name", "customer", "customer description", "account name", "company name", "company",
        "account", "client", "customer email", "email", "Kundenname", "Kunde", "Firma", "Client",
    ),
    "productExternalId": ("productExternalId", "product external id", "plan external id", "product id", "plan id",
        "price id", "Produkt-ID", "Tarif-ID"),
    "product": (
        "productName", "product name", "plan name", "product", "plan", "price name", "Produktname", "Produkt", "Tarif",
        "Produit", "Abonnement Name",
    ),
    "subscriptionExternalId": (
        "subscriptionExternalId", "subscription external id", "subscription id", "subscription", "contract number",
        "contract", "Abo-ID", "Abonnement", "Abo", "Vertragsnummer", "Vertrag",
    ),
    "eventDate": (
        "effectiveDate", "effective date", "event date", "start date", "start date (UTC)", "start (UTC)", "started at",
        "activity date", "movement date", "date", "date (UTC)", "start", "created (UTC)", "valid from",
        "Ereignisdatum", "Startdatum", "Beginn", "Gültig ab", "Wirksam ab", "Datum", "Date de début",
    ),
    "endDate": (
        "endDate", "ended at (UTC)", "ended at", "end date (UTC)", "end date", "cancellation date", "churn date",
        "Enddatum", "Ende", "Gekündigt zum", "Date de fin",
    ),
    "mrr": ("activity MRR", "MRR", "monthly recurring revenue", "monthly amount", "MRR neu", "Monatsbetrag"),
    "arr": ("activity ARR", "ARR", "annual recurring revenue", "annual amount", "yearly amount", "Jahresbetrag"),
    "amount": (
        "amountValue", "plan amount", "subscription amount", "amount", "price", "unit amount", "value", "Betrag",
        "Preis", "Montant", "Prix",
    ),
    "currency": ("amountCurrency", "currency code", "currency", "Währung", "Devise"),
    "interval": (
        "interval", "billing interval", "plan interval", "billing period", "billing cycle", "Intervall",
        "Abrechnungsintervall", "Abrechnungszeitraum", "Périodicité",
    ),
    "intervalCount": ("intervalCount", "interval count", "plan interval count"),
    "quantity": ("quantity", "plan quantity", "seats", "Menge", "Anzahl", "Quantité"),
    "kind": (
        "kind", "event type", "activity type", "movement type", "type", "event", "activity", "movement", "Art",
        "Ereignisart", "Ereignis", "Typ",
    ),
    "status": ("status", "Status"),
    "externalId": ("externalId", "external id", "event id", "activity id", "uuid", "id", "Ereignis-ID"),
})  # fmt: skip


def _fold_all(*words: str) -> frozenset[str]:
    return frozenset(map(fold_heading, words))


START_WORDS = _fold_all(
    "start", "started", "new", "new biz", "new business", "new customer", "created", "subscribed", "subscription start",
    "subscription created", "reactivation", "reactivated", "Beginn", "Neu", "Neukunde", "Neugeschäft", "Reaktivierung",
)  # fmt: skip
CHANGE_WORDS = _fold_all(
    "change", "changed", "expansion", "contraction", "upgrade", "upgraded", "downgrade", "downgraded", "updated",
    "subscription updated", "price change", "Änderung", "Erweiterung", "Reduzierung", "Preisänderung",
)  # fmt: skip
CANCEL_WORDS = _fold_all(
    "cancel", "canceled", "cancelled", "cancellation", "churn", "churned", "end", "ended", "expired", "deleted",
    "subscription deleted", "subscription canceled", "subscription cancelled", "Kündigung", "Gekündigt", "Ende",
    "Beendet", "Abwanderung",
)  # fmt: skip
ACTIVE_STATUSES = _fold_all("active", "past due", "unpaid", "paused", "aktiv", "überfällig")
ENDED_STATUSES = _fold_all("canceled", "cancelled", "ended", "expired", "gekündigt", "beendet")
LEFT_OUT_STATUSES = _fold_all("trialing", "trial", "incomplete", "incomplete expired", "draft", "Testphase", "Entwurf")
INTERVALS: dict[str, tuple[str, int]] = {
    fold_heading(word): interval
    for words, interval in (
        (("day", "daily", "Tag", "täglich"), ("day", 1)),
        (("week", "weekly", "Woche", "wöchentlich"), ("week", 1)),
        (("month", "monthly", "1 month", "Monat", "monatlich", "mensuel"), ("month", 1)),
        (("quarter", "quarterly", "3 months", "Quartal", "vierteljährlich", "trimestriel"), ("month", 3)),
        (("half-year", "half-yearly", "semi-annual", "6 months", "Halbjahr", "halbjährlich"), ("month", 6)),
        (("year", "yearly", "annual", "annually", "12 months", "Jahr", "jährlich", "annuel"), ("year", 1)),
    )
    for word in words
}

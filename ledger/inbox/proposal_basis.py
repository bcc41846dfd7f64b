"""What a suggested category is based on, in words."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from companies.pages.amount_formats import format_percent_for_input
from ledger.rules.calc.category_proposals import COUNTERPARTY, OWN, TEXT, CategoryProposal
from ledger.rules.calc.payment_kinds import PaymentKind
from ledger.rules.calc.standard_tax import TaxBasis, TaxSuggestion

BASIS_EXPLANATIONS: dict[str, Any] = {
    COUNTERPARTY: ngettext_lazy(
        "{agreed} of {seen} transaction with this name", "{agreed} of {seen} transactions with this name", "seen"
    ),
    TEXT: ngettext_lazy(
        "{agreed} of {seen} transaction with a similar name or text",
        "{agreed} of {seen} transactions with a similar name or text",
        "seen",
    ),
    OWN: gettext_lazy("Your company is the counterparty"),
}
# Of a counterparty that was chosen for transactions under other names too.
COUNTERPARTY_EXPLANATION: Any = ngettext_lazy(
    "{agreed} of {seen} transaction with this name or counterparty",
    "{agreed} of {seen} transactions with this name or counterparty",
    "seen",
)


PAYMENT_KIND_EXPLANATIONS: dict[PaymentKind, Any] = {
    PaymentKind.SALARY: gettext_lazy("Looks like a salary"),
    PaymentKind.SOCIAL_SECURITY: gettext_lazy("Looks like social security"),
    PaymentKind.WAGE_TAX: gettext_lazy("Looks like wage tax"),
    PaymentKind.VAT: gettext_lazy("Looks like VAT"),
    PaymentKind.INCOME_TAX: gettext_lazy("Looks like income tax"),
    PaymentKind.TAX: gettext_lazy("Looks like a tax payment"),
    PaymentKind.RENT: gettext_lazy("Looks like rent"),
    PaymentKind.INSURANCE: gettext_lazy("Looks like insurance"),
    PaymentKind.MEMBERSHIP: gettext_lazy("Looks like a membership fee"),
    PaymentKind.POSTAGE: gettext_lazy("Looks like postage"),
    PaymentKind.OFFICE_SUPPLIES: gettext_lazy("Looks like office supplies"),
    PaymentKind.BOOKS: gettext_lazy("Looks like books or newspapers"),
    PaymentKind.CLEANING: gettext_lazy("Looks like office cleaning"),
    PaymentKind.VEHICLE: gettext_lazy("Looks like vehicle costs"),
    PaymentKind.TELECOM: gettext_lazy("Looks like phone or internet"),
    PaymentKind.ENERGY: gettext_lazy("Looks like electricity or gas"),
    PaymentKind.TRAVEL: gettext_lazy("Looks like travel"),
    PaymentKind.ENTERTAINMENT: gettext_lazy("Looks like a business meal"),
    PaymentKind.HOSTING: gettext_lazy("Looks like hosting"),
    PaymentKind.DEVELOPMENT_SOFTWARE: gettext_lazy("Looks like software for development"),
    PaymentKind.OFFICE_SOFTWARE: gettext_lazy("Looks like office software"),
    PaymentKind.ADVERTISING: gettext_lazy("Looks like advertising"),
    PaymentKind.RECRUITING: gettext_lazy("Looks like recruiting"),
    PaymentKind.FREELANCERS: gettext_lazy("Looks like freelance work"),
    PaymentKind.LEGAL_ADVICE: gettext_lazy("Looks like legal advice"),
    PaymentKind.TAX_ADVICE: gettext_lazy("Looks like tax advice or bookkeeping"),
    PaymentKind.PROFESSIONAL_SERVICES: gettext_lazy("Looks like an audit"),
    PaymentKind.BANK_FEES: gettext_lazy("Looks like bank fees"),
    PaymentKind.PAYMENT_FEES: gettext_lazy("Looks like payment fees"),
    PaymentKind.INTEREST: gettext_lazy("Looks like interest"),
    PaymentKind.LOAN: gettext_lazy("Looks like a loan"),
    PaymentKind.CARD_SETTLEMENT: gettext_lazy(
        "Looks like a credit card settlement. Import the card's statement to link it as a transfer."
    ),
    PaymentKind.CARD_PAYMENT_RECEIVED: gettext_lazy(
        "Looks like a payment received on a credit card. Import the bank's statement to link it as a transfer."
    ),
    PaymentKind.SUBSCRIPTION_REVENUE: gettext_lazy("Looks like revenue from a subscription"),
    PaymentKind.PROJECT_REVENUE: gettext_lazy("Looks like revenue from a project or service"),
    PaymentKind.CUSTOMER_PAYMENT: gettext_lazy("Looks like a payment by a customer"),
}


TAX_EXPLANATIONS: dict[TaxBasis, Any] = {
    TaxBasis.HISTORY: gettext_lazy("includes {percent} % tax"),
    TaxBasis.STANDARD: gettext_lazy("{percent} % VAT suggested"),
    TaxBasis.REDUCED: gettext_lazy("{percent} % VAT suggested (reduced rate)"),
    TaxBasis.STATED: gettext_lazy("{percent} % VAT according to the description"),
}


def describe_proposal_basis(proposal: CategoryProposal, *, is_incoming: bool) -> str:
    """Describe what a proposal is based on, and the tax rate that is suggested with it."""
    if proposal.payment_kind:
        explanation = str(PAYMENT_KIND_EXPLANATIONS[proposal.payment_kind])
    else:
        text = COUNTERPARTY_EXPLANATION if proposal.has_other_names else BASIS_EXPLANATIONS[proposal.kind]
        explanation = str(text.format(agreed=proposal.agreed, seen=proposal.seen))
        if proposal.kind == COUNTERPARTY and 2 * proposal.agreed < proposal.seen and proposal.is_likely:
            # Most transactions of the name do not have the category: the most similar ones decide.
            similarity = _("Similar amount, account or text")
            explanation = f"{similarity}; {explanation}"
    tax_explanation = describe_tax(proposal.tax, is_incoming=is_incoming) if proposal.tax else ""
    return " · ".join(filter(None, (explanation, tax_explanation)))


def describe_customer_tax(tax: TaxSuggestion) -> str:
    """Describe the tax of a payment by a customer whose text does not say for what."""
    return f"{PAYMENT_KIND_EXPLANATIONS[PaymentKind.CUSTOMER_PAYMENT]} · {describe_tax(tax, is_incoming=True)}"


def describe_tax(tax: TaxSuggestion, *, is_incoming: bool) -> str:
    """Describe why a tax rate is suggested, or none; empty if earlier transactions included none."""
    if tax.basis == TaxBasis.ABROAD:
        return _("Customer abroad: no VAT") if is_incoming else _("Supplier abroad: no VAT (reverse charge)")
    if tax.percent is None:
        return ""
    return str(TAX_EXPLANATIONS[tax.basis]).format(percent=format_percent_for_input(tax.percent))

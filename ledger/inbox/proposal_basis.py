"""What a suggested category is based on, in words."""

from typing import Any

from django.utils.translation import gettext_lazy, ngettext_lazy

from ledger.rules.calc.category_proposals import ACCOUNT, COUNTERPARTY, OWN, TEXT, CategoryProposal

BASIS_EXPLANATIONS: dict[str, Any] = {
    COUNTERPARTY: ngettext_lazy(
        "{agreed} of {seen} transaction with this name", "{agreed} of {seen} transactions with this name", "seen"
    ),
    TEXT: ngettext_lazy(
        "{agreed} of {seen} transaction with a similar name or text",
        "{agreed} of {seen} transactions with a similar name or text",
        "seen",
    ),
    ACCOUNT: ngettext_lazy(
        "{agreed} of {seen} transaction on this account", "{agreed} of {seen} transactions on this account", "seen"
    ),
    OWN: gettext_lazy("Your company is the counterparty"),
}
# For a category that most transactions of the name do not have: the most similar ones decide.
SIMILARITY_EXPLANATION: Any = ngettext_lazy(
    "Similar amount, account or text; {agreed} of {seen} transaction with this name",
    "Similar amount, account or text; {agreed} of {seen} transactions with this name",
    "seen",
)


def describe_proposal_basis(proposal: CategoryProposal) -> str:
    """Describe what a proposal is based on."""
    is_minority = proposal.kind == COUNTERPARTY and 2 * proposal.agreed < proposal.seen
    text = SIMILARITY_EXPLANATION if is_minority and proposal.is_likely else BASIS_EXPLANATIONS[proposal.kind]
    return str(text.format(agreed=proposal.agreed, seen=proposal.seen))

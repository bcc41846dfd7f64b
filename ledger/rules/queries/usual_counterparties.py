"""The counterparties of transactions that a person categorizes without naming one."""

from collections.abc import Sequence
from uuid import UUID

from companies.models import Company
from ledger.categorization.queries.references import find_settled_counterparties
from ledger.models import Transaction
from ledger.rules.calc.category_proposals import COUNTERPARTY, OWN, TEXT, CategoryLine, CategoryProposal
from ledger.rules.calc.rule_matcher import MatchInput
from ledger.rules.queries.counterparty_names import CounterpartyNames, build_counterparty
from ledger.rules.queries.history_proposals import propose_categories


def find_usual_counterparty(company: Company, transaction: Transaction, choice: CategoryLine) -> UUID | None:
    """Return the counterparty that is set with a category on one transaction; see `find_usual_counterparties`."""
    return find_usual_counterparties(company, [transaction], choice).get(transaction.id)


def find_usual_counterparties(
    company: Company, transactions: Sequence[Transaction], choice: CategoryLine
) -> dict[UUID, UUID]:
    """Return the counterparties that the history of the names suggests, first with the chosen category, else the known
    ones that From / To names, else those of the chosen suggestions by a similar text; by transaction.

    None for own transfers, and where the transaction settles something, whose counterparty it gets. The number of
    statements does not grow with the transactions.
    """
    ids = [transaction.id for transaction in transactions]
    settled_ids = find_settled_counterparties(company_id=company.id, transaction_ids=ids).keys()
    proposals_by_id = propose_categories(company, ids)
    names = CounterpartyNames(company)
    counterparties = {
        transaction.id: choose_counterparty(transaction, proposals_by_id.get(transaction.id, []), choice, names)
        for transaction in transactions
        if transaction.id not in settled_ids
    }
    return {row_id: counterparty_id for row_id, counterparty_id in counterparties.items() if counterparty_id}


def choose_counterparty(
    transaction: Transaction, proposals: Sequence[CategoryProposal], choice: CategoryLine, names: CounterpartyNames
) -> UUID | None:
    """Return the usual counterparty of a transaction that is categorized; None for an own transfer."""
    if any(proposal.kind == OWN for proposal in proposals):
        return None
    proposals = sorted(proposals, key=lambda proposal: proposal.categorization.choice != choice)
    by_name = [proposal.categorization.counterparty_id for proposal in proposals if proposal.kind == COUNTERPARTY]
    if usual_id := next(filter(None, by_name), None):
        return usual_id
    if named_id := find_named_counterparty(transaction, names):
        return named_id
    by_text = (
        proposal.categorization.counterparty_id
        for proposal in proposals
        if proposal.kind == TEXT and proposal.categorization.choice == choice
    )
    return next(by_text, None)


def find_named_counterparty(transaction: Transaction, names: CounterpartyNames) -> UUID | None:
    """Return the known counterparty that From / To names."""
    named = build_counterparty(
        MatchInput(
            transaction.from_to,
            transaction.description,
            transaction.amount_value,
            transaction.amount_currency,
            transaction.account_id,
        )
    )
    return names.find_id(named) if named else None

"""Create the counterparties that rules take from transactions."""

from collections.abc import Iterable
from dataclasses import replace

from companies.change import CompanyChange
from ledger.categorization.actions.counterparties import create_counterparty
from ledger.categorization.choices import CategorizableTransaction, CategorizationChoice
from ledger.models import CounterpartyType
from ledger.rules.queries.counterparty_names import CounterpartyNames

ChosenPair = tuple[CategorizableTransaction, CategorizationChoice]


def create_chosen_counterparties(
    change: CompanyChange, pairs: Iterable[ChosenPair], names: CounterpartyNames
) -> list[ChosenPair]:
    """Return choices with the ids of their counterparties; new ones are created, each name once."""
    resolved = []
    for transaction, choice in pairs:
        new = choice.new_counterparty
        if new is None:
            resolved.append((transaction, choice))
            continue
        counterparty_id = names.find_id(new)
        if counterparty_id is None:
            values = {"name": new.name, "type": CounterpartyType(new.type)}
            counterparty_id = create_counterparty(company=change.company, context=change.context, values=values).id
            names.add(new, counterparty_id)
        resolved.append((transaction, replace(choice, counterparty_id=counterparty_id, new_counterparty=None)))
    return resolved

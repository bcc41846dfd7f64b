"""The counterparties that transactions name in `fromTo`: known ones by name, without case and accents, or new ones."""

from collections import defaultdict
from functools import cached_property
from uuid import UUID

from companies.models import Company
from companies.names import VISIBLE_PATTERN, build_name
from ledger.categorization.choices import NewCounterparty
from ledger.models import Counterparty, CounterpartyType
from ledger.rules.calc.rule_matcher import MatchInput, fold_text

MAX_NAME_LENGTH = 300  # of a counterparty


class CounterpartyNames:
    """The counterparties of a company by name; one query when the first is looked for."""

    def __init__(self, company: Company):
        self.company = company

    @cached_property
    def ids_by_name(self) -> dict[str, dict[str, UUID]]:
        """Folded name → type → id of the counterparty that was created first."""
        ids_by_name: defaultdict[str, dict[str, UUID]] = defaultdict(dict)
        rows = Counterparty.objects.for_company(self.company.id).order_by("id").values_list("id", "name", "type")
        for row_id, name, kind in rows:
            ids_by_name[fold_text(name)].setdefault(kind, row_id)
        return dict(ids_by_name)

    def find_id(self, counterparty: NewCounterparty) -> UUID | None:
        """Return the id of the counterparty with this name; of several that of its type, else the first one's."""
        ids_by_type = self.ids_by_name.get(fold_text(counterparty.name))
        return ids_by_type.get(counterparty.type) or min(ids_by_type.values()) if ids_by_type else None

    def add(self, counterparty: NewCounterparty, counterparty_id: UUID) -> None:
        """Remember a counterparty that was created."""
        self.ids_by_name.setdefault(fold_text(counterparty.name), {})[counterparty.type] = counterparty_id


def build_counterparty(match_input: MatchInput) -> NewCounterparty | None:
    """Return the counterparty that a transaction names: a customer for money in, else a vendor; None without name."""
    text = match_input.from_to
    if not VISIBLE_PATTERN.search(text):
        return None
    name = " ".join(build_name(text).split())[:MAX_NAME_LENGTH].strip()
    kind = CounterpartyType.CUSTOMER if match_input.amount > 0 else CounterpartyType.VENDOR
    return NewCounterparty(name, kind.value) if fold_text(name) else None

"""What names a category or a counterparty, told before it goes; each app that stands above says it of its tables."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import ngettext

from companies.hooks import Hook
from companies.pages.amounts import number
from ledger import hooks
from ledger.models import Account, Categorization, CategorizationRule, Subscription

Use = tuple[int, str]  # (how many, in words: 3 rules)


def uses_of(kind: str, *, company_id: UUID, row_id: UUID) -> list[str]:
    """What names the row in words, without what nothing of does; ``kind`` is category or counterparty."""
    own, others = USES[kind]
    found = [*own(company_id, row_id), *(use for uses in others.run(company_id, row_id) for use in uses)]
    return [said for count, said in found if count]


def of_category(company_id: UUID, category_id: UUID) -> Iterator[Use]:
    parts = Categorization.objects.of(company_id).filter(category=category_id)
    yield of_transactions(parts)
    yield of_rules(CategorizationRule.objects.of(company_id).filter(category=category_id))
    count = Account.objects.of(company_id).filter(default_category=category_id).count()
    yield count, ngettext("{count} account", "{count} accounts", count).format(count=number(count))


def of_counterparty(company_id: UUID, counterparty_id: UUID) -> Iterator[Use]:
    parts = Categorization.objects.of(company_id).filter(counterparty=counterparty_id)
    yield of_transactions(parts)
    named = Q(counterparty=counterparty_id) | Q(given_counterparty=counterparty_id)
    yield of_rules(CategorizationRule.objects.of(company_id).filter(named))
    count = Subscription.objects.of(company_id).filter(customer=counterparty_id).count()
    yield count, ngettext("{count} subscription", "{count} subscriptions", count).format(count=number(count))


def of_transactions(parts: Any) -> Use:
    count = parts.values("transaction_id").distinct().count()
    return count, ngettext("{count} transaction", "{count} transactions", count).format(count=number(count))


def of_rules(rows: Any) -> Use:
    count = rows.count()
    return count, ngettext("{count} rule", "{count} rules", count).format(count=number(count))


USES: dict[str, tuple[Callable[[UUID, UUID], Iterator[Use]], Hook[[UUID, UUID], Iterable[Use]]]] = {
    "category": (of_category, hooks.list_category_uses),
    "counterparty": (of_counterparty, hooks.list_counterparty_uses),
}

"""Where a category or a counterparty is used, shown before it is deleted. Other apps add their own tables."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import ngettext

from companies.hooks import Hook
from companies.pages.amount_formats import format_count
from ledger import hooks
from ledger.models import Account, Categorization, CategorizationRule, RuleSplit, Subscription

UsageCount = tuple[int, str]  # (how many, in words: 3 rules)


def list_usage_texts(kind: str, *, company_id: UUID, row_id: UUID) -> list[str]:
    """Return where the record is used, as texts such as “3 rules”. ``kind`` is category or counterparty."""
    own, others = USES[kind]
    usage_counts = [
        *own(company_id, row_id),
        *(usage_count for uses in others.run(company_id, row_id) for usage_count in uses),
    ]
    return [text for count, text in usage_counts if count]


def count_category_usage(company_id: UUID, category_id: UUID) -> Iterator[UsageCount]:
    """Yield (count, text) of transactions, rules and accounts with the category."""
    categorizations = Categorization.objects.for_company(company_id).filter(category=category_id)
    yield count_transaction_usage(categorizations)
    shared_by = RuleSplit.objects.for_company(company_id).filter(category=category_id).values("rule_id")
    assigns_category = Q(category=category_id) | Q(id__in=shared_by)
    yield count_rule_usage(CategorizationRule.objects.for_company(company_id).filter(assigns_category))
    count = Account.objects.for_company(company_id).filter(default_category=category_id).count()
    yield count, ngettext("{count} account", "{count} accounts", count).format(count=format_count(count))


def count_counterparty_usage(company_id: UUID, counterparty_id: UUID) -> Iterator[UsageCount]:
    """Yield (count, text) of transactions, rules and subscriptions with the counterparty."""
    categorizations = Categorization.objects.for_company(company_id).filter(counterparty=counterparty_id)
    yield count_transaction_usage(categorizations)
    names_counterparty = Q(counterparty=counterparty_id) | Q(given_counterparty=counterparty_id)
    yield count_rule_usage(CategorizationRule.objects.for_company(company_id).filter(names_counterparty))
    count = Subscription.objects.for_company(company_id).filter(customer=counterparty_id).count()
    yield count, ngettext("{count} subscription", "{count} subscriptions", count).format(count=format_count(count))


def count_transaction_usage(categorizations: Any) -> UsageCount:
    """Return (count, text) of the transactions of categorizations."""
    count = categorizations.values("transaction_id").distinct().count()
    return count, ngettext("{count} transaction", "{count} transactions", count).format(count=format_count(count))


def count_rule_usage(rows: Any) -> UsageCount:
    """Return (count, text) of rules."""
    count = rows.count()
    return count, ngettext("{count} rule", "{count} rules", count).format(count=format_count(count))


USES: dict[str, tuple[Callable[[UUID, UUID], Iterator[UsageCount]], Hook[[UUID, UUID], Iterable[UsageCount]]]] = {
    "category": (count_category_usage, hooks.list_category_uses),
    "counterparty": (count_counterparty_usage, hooks.list_counterparty_uses),
}

"""What names a category or a counterparty, told before it goes; each app that stands above says it of its tables."""

from collections.abc import Iterator
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils.module_loading import import_string

from ledger.models import Account, Categorization, CategorizationRule, Subscription

Use = tuple[int, str]  # (how many, what one of them is called)


def uses_of(kind: str, *, company_id: UUID, row_id: UUID) -> list[Use]:
    """What names the row, without what nothing of does; ``kind`` is category or counterparty."""
    found = [use for path in settings.USES_TOLD[kind] for use in import_string(path)(company_id, row_id)]
    return [(count, noun) for count, noun in found if count]


def of_category(company_id: UUID, category_id: UUID) -> Iterator[Use]:
    parts = Categorization.objects.of(company_id).filter(category=category_id)
    yield parts.values("transaction_id").distinct().count(), "transaction"
    yield CategorizationRule.objects.of(company_id).filter(category=category_id).count(), "rule"
    yield Account.objects.of(company_id).filter(default_category=category_id).count(), "account"


def of_counterparty(company_id: UUID, counterparty_id: UUID) -> Iterator[Use]:
    parts = Categorization.objects.of(company_id).filter(counterparty=counterparty_id)
    yield parts.values("transaction_id").distinct().count(), "transaction"
    named = Q(counterparty=counterparty_id) | Q(given_counterparty=counterparty_id)
    yield CategorizationRule.objects.of(company_id).filter(named).count(), "rule"
    yield Subscription.objects.of(company_id).filter(customer=counterparty_id).count(), "subscription"

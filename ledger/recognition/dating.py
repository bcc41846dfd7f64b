"""Which period a part belongs to: what its rule says, with the invoice date that is known for its transaction."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from companies.errors import Invalid
from companies.models import Among
from ledger import hooks
from ledger.calc.months import months_between
from ledger.calc.recognition import DateRule, service_period
from ledger.models import FileTransaction

MOST_MONTHS = 30 * 12  # the longest time over which things are usually written off


class PeriodTooLong(Invalid):
    """A service period is at most 30 years long."""

    code = "period_too_long"


class PeriodOutOfRange(Invalid):
    """The period lies outside the years 1 to 9999."""

    code = "period_out_of_range"


PERIODS = (PeriodTooLong, PeriodOutOfRange)  # refused wherever parts get their dates


@dataclass(frozen=True, slots=True)
class Rule:
    """``usingDateRule``: its type, the period of servicePeriod and custom, and an invoice date where one was given."""

    type: str = DateRule.TRANSACTION_DATE.value
    start: date | None = None
    end: date | None = None
    invoice_date: date | None = None


def period(
    rule: Rule, *, day: date, known_invoice_date: date | None, moves_revenue: bool, has_revenue: bool
) -> tuple[date, date]:
    """Return computedStartDate and computedEndDate of a part of a transaction of the day.

    ``known_invoice_date`` matters only where ``needs_invoice_date`` says so. Raises PeriodTooLong, PeriodOutOfRange.
    """
    invoice_date = rule.invoice_date or known_invoice_date
    kind = effective_rule_type(rule, moves_revenue=moves_revenue, has_revenue=has_revenue)
    try:
        start, end = service_period(kind, day, start=rule.start, end=rule.end, invoice_date=invoice_date)
    except (ValueError, OverflowError):
        raise PeriodOutOfRange from None
    if months_between(start, end) > MOST_MONTHS:
        raise PeriodTooLong
    return start, end


def effective_rule_type(rule: Rule, *, moves_revenue: bool, has_revenue: bool) -> str:
    """Return the type of the rule that applies.

    ``moves_revenue`` is the company's plRecognizeRevenueOnInvoice: revenue by transaction date then belongs to the day
    of the invoice, where one is known.
    """
    if moves_revenue and has_revenue and rule.type == DateRule.TRANSACTION_DATE:
        return DateRule.INVOICE_DATE.value
    return rule.type


def needs_invoice_date(rule: Rule, *, moves_revenue: bool, has_revenue: bool) -> bool:
    """Whether the period depends on the invoice date known for the transaction."""
    kind = effective_rule_type(rule, moves_revenue=moves_revenue, has_revenue=has_revenue)
    return kind == DateRule.INVOICE_DATE and rule.invoice_date is None


def invoice_dates(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, date]:
    """The invoice date known for each transaction: its settled planned transaction's, else an attached file's.

    Of several files the one attached first counts. Planning answers for planned transactions (ledger.hooks).
    """
    found = FileTransaction.objects.of(company_id).filter(
        Among("transaction_id", transaction_ids), file__parse_data__date__isnull=False
    )
    rows = found.order_by("-file__created_time", "-file_id").values_list("transaction_id", "file__parse_data__date")
    dates = {transaction_id: date.fromisoformat(text) for transaction_id, text in rows if text}
    for planned_dates in hooks.list_invoice_dates.run(company_id=company_id, transaction_ids=transaction_ids):
        dates |= planned_dates
    return dates

"""The service period of a categorization: from its date rule and the invoice date known for its transaction."""

from dataclasses import dataclass
from datetime import date
from typing import Self
from uuid import UUID

from django.db.models.fields.json import KeyTextTransform

from companies.errors import InvalidInputError
from companies.models import IdIn
from ledger import hooks
from ledger.calc.months import count_months_between
from ledger.calc.recognition import DateRule, compute_service_period
from ledger.models import Categorization, FileTransaction

MAX_PERIOD_MONTHS = 30 * 12  # the longest time over which things are usually written off


class PeriodTooLong(InvalidInputError):
    """A service period covers at most 30 years."""

    code = "period_too_long"


class PeriodOutOfRange(InvalidInputError):
    """The service period must lie within the years 1 to 9999."""

    code = "period_out_of_range"


PERIOD_ERRORS = (PeriodTooLong, PeriodOutOfRange)  # refused wherever parts get their dates


@dataclass(frozen=True, slots=True)
class RecognitionRule:
    """``usingDateRule``: type, the period of servicePeriod and custom, and a given invoice date."""

    type: str = DateRule.TRANSACTION_DATE.value
    start: date | None = None
    end: date | None = None
    invoice_date: date | None = None
    is_catch_up: bool = False  # recognizeFrom: what lies in closed months is recognized in the first open one

    @classmethod
    def from_categorization(cls, categorization: Categorization) -> Self:
        """Return the rule of a stored categorization, without its catch-up."""
        return cls(
            categorization.rule,
            categorization.rule_start_date,
            categorization.rule_end_date,
            categorization.invoice_date,
        )


def resolve_service_period(
    rule: RecognitionRule,
    *,
    day: date,
    known_invoice_date: date | None,
    recognize_revenue_on_invoice: bool,
    has_revenue: bool,
) -> tuple[date, date]:
    """Return computedStartDate and computedEndDate of a categorization of a transaction on `day`.

    ``known_invoice_date`` matters only where ``needs_invoice_date`` is true. Raises PeriodTooLong,
    PeriodOutOfRange.
    """
    invoice_date = rule.invoice_date or known_invoice_date
    rule_type = get_effective_rule_type(
        rule, recognize_revenue_on_invoice=recognize_revenue_on_invoice, has_revenue=has_revenue
    )
    try:
        start, end = compute_service_period(rule_type, day, start=rule.start, end=rule.end, invoice_date=invoice_date)
    except (ValueError, OverflowError):
        raise PeriodOutOfRange from None
    if count_months_between(start, end) > MAX_PERIOD_MONTHS:
        raise PeriodTooLong
    return start, end


def get_effective_rule_type(rule: RecognitionRule, *, recognize_revenue_on_invoice: bool, has_revenue: bool) -> str:
    """Return the type of the rule that applies.

    ``recognize_revenue_on_invoice`` is a setting of the company: revenue by transaction date then belongs to the
    invoice date, where one is known.
    """
    if recognize_revenue_on_invoice and has_revenue and rule.type == DateRule.TRANSACTION_DATE:
        return DateRule.INVOICE_DATE.value
    return rule.type


def needs_invoice_date(rule: RecognitionRule, *, recognize_revenue_on_invoice: bool, has_revenue: bool) -> bool:
    """Whether the period depends on the invoice date known for the transaction."""
    rule_type = get_effective_rule_type(
        rule, recognize_revenue_on_invoice=recognize_revenue_on_invoice, has_revenue=has_revenue
    )
    return rule_type == DateRule.INVOICE_DATE and rule.invoice_date is None


def find_invoice_dates(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, date]:
    """The invoice date known for each transaction: its settled planned transaction's, else an attached file's.

    Of several files the one attached first counts. Planning answers for planned transactions (ledger.hooks).
    """
    dated_files = FileTransaction.objects.for_company(company_id).filter(
        IdIn("transaction_id", transaction_ids), file__parse_data__date__isnull=False
    )
    rows = dated_files.order_by("-file__created_time", "-file_id").values_list(
        "transaction_id",
        KeyTextTransform(
            "date", "file__parse_data"
        ),  # the path alone leaves a cycle that holds the request and its body
    )
    dates = {transaction_id: date.fromisoformat(text) for transaction_id, text in rows if text}
    for planned_dates in hooks.list_invoice_dates.run(company_id=company_id, transaction_ids=transaction_ids):
        dates |= planned_dates
    return dates

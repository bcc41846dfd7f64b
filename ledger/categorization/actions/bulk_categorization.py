"""Categorize transactions: one category for the whole amount of many, and what rules or history choose for each."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F, Q
from psycopg.types.json import Jsonb

from companies.change import CompanyChange, change_company
from companies.closed_periods import PeriodClosed, is_day_closed
from companies.models import AuditContext, Company, IdIn, generate_id
from ledger.bulk.copy import copy_rows
from ledger.bulk.planner_statistics import analyze_after_commit, analyze_grown_table
from ledger.calc.recognition import DateRule
from ledger.categorization.choices import (
    CategorizableTransaction,
    CategorizationChoice,
    ChosenCategorization,
    compute_pass_through_tax,
    get_revenue_options,
    list_chosen_categorizations,
    list_recognition_periods,
)
from ledger.categorization.queries.details_to_keep import (
    KEEP_NOTHING,
    DetailsToKeep,
    add_details,
    find_detailed_categorizations,
    has_details_to_keep,
)
from ledger.categorization.queries.references import (
    find_settled_counterparties,
    get_category_pl_types,
    resolve_counterparty_id,
    resolve_pl_type,
)
from ledger.models import Categorization, PlType, is_counted_in_results
from ledger.recognition.actions.postings import PL_TYPES, PostingInput, write_plain_postings, write_postings
from ledger.recognition.actions.transaction_totals import recompute_totals
from ledger.recognition.closed_categorizations import (
    check_period_open_for_selection,
    get_first_open_day,
    has_closed_days,
    list_closed_transaction_pointers,
)
from ledger.recognition.service_periods import RecognitionRule, get_effective_rule_type
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.queries.selections import build_audited_selection, select_transactions

CATEGORIZATION_CHUNK_ROWS = 20_000  # more than the 10,000 ids of a selection, so that those take one round

CATEGORIZATION_COLUMN_TYPES = {
    "company_id": "uuid",
    "id": "uuid",
    "transaction_id": "uuid",
    "position": "int2",
    "category_id": "uuid",
    "counterparty_id": "uuid",
    "rule": "text",
    "rule_start_date": "date",
    "rule_end_date": "date",
    "invoice_date": "date",
    "computed_start_date": "date",
    "computed_end_date": "date",
    **dict.fromkeys(PL_TYPES, "numeric"),
    "pass_through_tax": "numeric",
    "value": "numeric",
}
RUN_CATEGORIZATION_COLUMN_TYPES = {
    **CATEGORIZATION_COLUMN_TYPES,
    "source_note": "text",
    "recognized_from": "date",
    "run_id": "uuid",
    "replaced": "jsonb",
}


# ---------------------------------------------------------------------------------------------- bulk categorization


def categorize_transactions(
    *,
    company: Company,
    context: AuditContext,
    selection: dict[str, Any],
    category_id: UUID,
    pl_type: str | None = None,
    counterparty: tuple[UUID, str | None] | None = None,
    rule: RecognitionRule | None = None,
    pass_through_tax: Decimal | None = None,
    tax_percent: Decimal | None = None,
    keep: DetailsToKeep = KEEP_NOTHING,
) -> int:
    """Assign the whole amount of each selected transaction to one category, replacing earlier categorizations.

    Legs of transfers stay; the category gets the remaining amount. A constant number of statements for as many
    transactions as a selection names. The tax is the same amount for each, or a percentage of each amount.

    Args:
        keep: details that transactions keep if one categorization has their whole amount.

    Returns: how many transactions were categorized.

    Raises: what ``select_transactions`` raises, ValidationFailed, PlTypeNeeded, PlTypeNotAllowed,
    SplitExceedsAmount, MissingRateError,
        PeriodTooLong.
    """
    with change_company(company, context=context) as change:
        # A transaction that consists of transfer legs only has no amount to categorize.
        rows = select_transactions(company, selection).filter(
            ~Q(transferred_value=F("amount_value")) | Q(transferred_value=0)
        )
        choice = CategorizationChoice(
            category_id=category_id,
            pl_type=resolve_pl_type(get_category_pl_types(company, category_id), pl_type),
            counterparty_id=resolve_counterparty_id(company, counterparty),
            rule=rule or RecognitionRule(),
            pass_through_tax=pass_through_tax,
            tax_percent=tax_percent,
        )
        check_period_open_for_selection(company, rows, selection)
        before = find_category_before(company, rows)
        categorized_ids: list[UUID] = []
        settled_count = 0
        is_plain = is_plain_choice(company, choice) and not has_closed_days(company, rows)
        if is_plain and not has_details_to_keep(company, rows, keep):
            for chunk in iterate_row_chunks(rows, "id"):
                ids = [row_id for (row_id,) in chunk]
                settled_count += apply_plain_choice(change, ids, choice)
                categorized_ids += ids
        else:
            for transactions in iterate_categorizable_transactions(rows):
                previous = find_detailed_categorizations(company, [each.id for each in transactions], keep)
                choices = [(each, add_details(choice, previous.get(each.id), keep)) for each in transactions]
                settled_count += apply_choices(change, choices, selection=selection)
                categorized_ids += [transaction.id for transaction in transactions]
        affected = len(categorized_ids)
        if affected:
            analyze_after_commit("ledger_categorization", "ledger_posting", rows=affected, company_id=company.id)
            after = {"affected": affected, "category_id": str(category_id), "pl_type": choice.pl_type}
            after |= {"settled_counterparties": settled_count} if settled_count else {}
            after["selection"] = build_audited_selection(selection)
            entry = change.record_bulk("transactions.categorized", "transaction", before=before, after=after)
            link_audit_entry(change, entry, categorized_ids)
    return affected


def find_category_before(company: Company, rows: Any) -> dict[str, Any] | None:
    """Return the category of a single transaction for the audit log; None for many, without one, or with several."""
    ids = list(rows.values_list("id", flat=True)[:2])
    if len(ids) != 1:
        return None
    categorizations = list(Categorization.objects.for_company(company.id).filter(transaction_id=ids[0]).unlinked()[:2])
    if len(categorizations) != 1:
        return None
    lines = list(categorizations[0].split)
    return {"category_id": str(categorizations[0].category_id), "pl_type": lines[0] if len(lines) == 1 else None}


def is_plain_choice(company: Company, choice: CategorizationChoice) -> bool:
    """Whether the choice posts one amount on the day of each transaction, as ``apply_plain_choice`` does."""
    rule_type = get_effective_rule_type(choice.rule, **get_revenue_options(company, choice))
    return rule_type == DateRule.TRANSACTION_DATE and not choice.pass_through_tax and not choice.tax_percent


_INSERT_PLAIN_CATEGORIZATIONS = """
    INSERT INTO ledger_categorization (
        company_id, id, transaction_id, position, category_id, counterparty_id, rule, rule_start_date, rule_end_date,
        invoice_date, computed_start_date, computed_end_date, {pl_type}, pass_through_tax, value, source_note)
    SELECT t.company_id, part.id, t.id, 0, %(category)s, %(counterparty)s, %(rule)s, %(start)s, %(end)s,
           %(invoice_date)s, t.date, t.date, t.amount_value - t.transferred_value, %(tax)s,
           t.amount_value - t.transferred_value, %(source_note)s
      FROM unnest(%(ids)s::uuid[], %(part_ids)s::uuid[]) AS part (transaction_id, id)
      JOIN ledger_transaction t ON t.company_id = %(company)s AND t.id = part.transaction_id
     ORDER BY part.id
"""


def apply_plain_choice(change: CompanyChange, transaction_ids: list[UUID], choice: CategorizationChoice) -> int:
    """Categorize some thousand transactions by one plain choice, replacing what is not a leg of a transfer.

    Stores the same rows as ``apply_choices``, but the database builds them. A constant number of statements.

    Returns: how many transactions got the counterparty of what they settle. Raises: MissingRateError.
    """
    company = change.company
    categorization_ids = [generate_id() for _ in transaction_ids]
    delete_unlinked_categorizations(company, transaction_ids)
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_PLAIN_CATEGORIZATIONS.format(pl_type=PlType(choice.pl_type).value),
            {
                "company": company.id,
                "ids": transaction_ids,
                "part_ids": categorization_ids,
                "category": choice.category_id,
                "counterparty": choice.counterparty_id,
                "rule": choice.rule.type,
                "start": choice.rule.start,
                "end": choice.rule.end,
                "invoice_date": choice.rule.invoice_date,
                "tax": choice.pass_through_tax,
                "source_note": choice.source_note,
            },
        )
    analyze_grown_table("ledger_categorization", rows=len(categorization_ids))
    write_plain_postings(
        company=company,
        categorization_ids=categorization_ids,
        transaction_ids=transaction_ids,
        category_id=choice.category_id,
        pl_type=choice.pl_type,
    )
    recompute_totals(change, transaction_ids)
    return 0 if choice.counterparty_id else fill_settled_counterparties(company, transaction_ids)


def delete_unlinked_categorizations(company: Company, transaction_ids: list[UUID]) -> None:
    """Delete categorizations that are no legs of transfers; the database deletes their postings."""
    Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", transaction_ids)).unlinked().delete()


def apply_choices(
    change: CompanyChange,
    choices: Sequence[tuple[CategorizableTransaction, CategorizationChoice]],
    *,
    automatic: bool = False,
    run_id: UUID | None = None,
    replaced: Mapping[UUID, dict[str, Any]] | None = None,
    selection: dict[str, Any] | None = None,
) -> int:
    """Categorize some thousand transactions, each by its own choice, replacing what is not a leg of a transfer.

    A choice without counterparty gets that of what the transaction settles. A constant number of statements.

    Args:
        automatic: no person made the choices.
        run_id: the categorization run that can be undone.
        replaced: by transaction id, the categorizations that were replaced; undoing the run restores them.
        selection: of the request, whose pointers errors name.

    Returns: how many transactions got the counterparty of what they settle.

    Raises: SplitExceedsAmount, ValidationFailed, MissingRateError, PeriodTooLong, PeriodOutOfRange, PeriodClosed,
        SharesExceedAmount.
    """
    company = change.company
    parts = [part for transaction, choice in choices for part in list_chosen_categorizations(transaction, choice)]
    posting_inputs, rows, closed_ids = [], [], set()
    for part, (start, end) in zip(parts, list_recognition_periods(company, parts), strict=True):
        transaction, choice = part.transaction, part.choice
        tax = compute_pass_through_tax(part)
        lines = ((choice.pl_type, part.amount - (tax or 0)),)
        recognized_from = None
        if transaction.is_counted_in_results and is_day_closed(company, start):
            recognized_from = get_first_open_day(company)
            if not choice.rule.is_catch_up:
                closed_ids.add(transaction.id)
        posting_input = PostingInput(
            *(generate_id(), choice.category_id, choice.rule.type, start, end),
            *(transaction.day, transaction.currency, lines, recognized_from),
        )
        replaced_values = (replaced or {}).get(transaction.id) if part.position == 0 else None
        rows.append(
            (
                *build_categorization_row(company, part, posting_input, tax),
                run_id,
                Jsonb(replaced_values) if replaced_values else None,
            )
        )
        if transaction.is_counted_in_results:
            posting_inputs.append(posting_input)
    if closed_ids:
        raise PeriodClosed.for_company(
            company, *list_closed_transaction_pointers(closed_ids, selection), names_open_month=True
        )
    transaction_ids = [transaction.id for transaction, _ in choices]
    delete_unlinked_categorizations(company, transaction_ids)
    copy_rows("ledger_categorization", RUN_CATEGORIZATION_COLUMN_TYPES, rows)
    analyze_grown_table("ledger_categorization", rows=len(rows))
    write_postings(posting_inputs, company=company)
    recompute_totals(change, transaction_ids, automatic=automatic)
    open_ids = [transaction.id for transaction, choice in choices if choice.counterparty_id is None]
    return fill_settled_counterparties(company, open_ids)


# Raw SQL: the ORM cannot update from a list of pairs.
_FILL_COUNTERPARTIES = """
    UPDATE ledger_categorization AS c SET counterparty_id = settled.counterparty_id, counterparty_by_settlement = TRUE
      FROM unnest(%(ids)s::uuid[], %(counterparty_ids)s::uuid[]) AS settled (transaction_id, counterparty_id)
     WHERE c.company_id = %(company)s AND c.transaction_id = settled.transaction_id
       AND c.counterparty_id IS NULL AND c.counter_id IS NULL
 RETURNING c.transaction_id
"""


def fill_settled_counterparties(company: Company, transaction_ids: list[UUID]) -> int:
    """Set the counterparty of what transactions settle on their new categorizations that have none.

    Returns: how many transactions have such a categorization.
    """
    if not transaction_ids:
        return 0
    counterparty_ids = find_settled_counterparties(company_id=company.id, transaction_ids=transaction_ids)
    if not counterparty_ids:
        return 0
    params: dict[str, Any] = {
        "company": company.id,
        "ids": list(counterparty_ids),
        "counterparty_ids": list(counterparty_ids.values()),
    }
    with connection.cursor() as cursor:
        cursor.execute(_FILL_COUNTERPARTIES, params)
        return len(set(cursor.fetchall()))


def build_categorization_row(
    company: Company, part: ChosenCategorization, posting_input: PostingInput, tax: Decimal | None
) -> tuple[Any, ...]:
    """Return the column values of a categorization, without the run's columns."""
    amounts, choice = dict(posting_input.lines), part.choice
    return (
        *(company.id, posting_input.id, part.transaction.id, part.position),
        *(posting_input.category_id, choice.counterparty_id),
        *(
            choice.rule.type,
            choice.rule.start,
            choice.rule.end,
            choice.rule.invoice_date,
            posting_input.start,
            posting_input.end,
        ),
        *(amounts.get(pl_type) for pl_type in PL_TYPES),
        *(tax, part.amount, choice.source_note, posting_input.recognized_from),
    )


def iterate_categorizable_transactions(rows: Any) -> Iterator[list[CategorizableTransaction]]:
    """Yield transactions in the order of their ids, CATEGORIZATION_CHUNK_ROWS at a time."""
    columns = ("id", "date", "amount_value", "amount_currency", "transferred_value", "pending", "source")
    for chunk in iterate_row_chunks(rows, *columns):
        yield [
            CategorizableTransaction(*first, is_counted_in_results(pending=pending, source=source))  # type: ignore[call-arg]
            for *first, pending, source in chunk
        ]


def iterate_row_chunks(rows: Any, *columns: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield columns of rows in the order of their ids, in chunks; the first column must be the id."""
    rows = rows.order_by("id").values_list(*columns)
    chunk = list(rows[:CATEGORIZATION_CHUNK_ROWS])
    while chunk:
        yield chunk
        chunk = (
            list(rows.filter(id__gt=chunk[-1][0])[:CATEGORIZATION_CHUNK_ROWS])
            if len(chunk) == CATEGORIZATION_CHUNK_ROWS
            else []
        )

"""Pages of the import of subscription events: upload a file, review what it would store, and import it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.closed_periods import PeriodClosed
from companies.errors import DomainError, ValidationFailed
from companies.locales import get_current_locale
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page, get_error_message
from companies.permissions import Permission
from ledger.calc.months import get_first_day_of_month
from ledger.files.actions import clean_filename
from ledger.imports.actions import uploads
from ledger.imports.pages.table_questions import TABLE_QUESTIONS
from ledger.imports.pages.table_uploads import describe_upload_error, store_posted_table
from ledger.imports.pages.uploaded_files import get_upload_owner
from ledger.imports.table_items import read_uploaded_table
from ledger.subscriptions.actions.event_file_import import (
    COLUMN_QUESTIONS,
    MAX_EVENT_ROWS,
    EventFileOptions,
    EventFileOutcome,
    import_subscription_event_file,
)
from ledger.subscriptions.calc.event_table import EventTable, TableEvent, find_event_table
from ledger.subscriptions.pages.subscriptions import format_billing_interval
from ledger.subscriptions.serializers.event_imports import OPTION_CHOICES, parse_event_file_options

ROWS_SHOWN, ERRORS_SHOWN = 20, 100
OPTION_FIELDS = (*(name for name in OPTION_CHOICES if name != "dryRun"), *COLUMN_QUESTIONS.values())
QUESTIONS = {
    **TABLE_QUESTIONS,
    "interval": (
        gettext_lazy("Amounts are billed"),
        {
            "month": gettext_lazy("monthly"),
            "quarter": gettext_lazy("quarterly"),
            "year": gettext_lazy("yearly"),
        },
    ),
    "quantity": (
        gettext_lazy("Amounts are"),
        {
            "multiply": gettext_lazy("per unit: multiply them by the quantity"),
            "ignore": gettext_lazy("totals: ignore the quantity"),
        },
    ),
}
COLUMN_LABELS = {
    "customerColumn": gettext_lazy("Column with the customer"),
    "dateColumn": gettext_lazy("Column with the date of the event"),
    "amountColumn": gettext_lazy("Column with the amount"),
}
FIELD_LABELS = {
    "customer": gettext_lazy("Customer"),
    "customerExternalId": gettext_lazy("Customer ID"),
    "product": gettext_lazy("Product"),
    "productExternalId": gettext_lazy("Product ID"),
    "subscriptionExternalId": gettext_lazy("Subscription ID"),
    "eventDate": gettext_lazy("Date"),
    "endDate": gettext_lazy("End date"),
    "mrr": gettext_lazy("MRR"),
    "arr": gettext_lazy("ARR"),
    "amount": gettext_lazy("Amount"),
    "currency": gettext_lazy("Currency"),
    "interval": gettext_lazy("Billing interval"),
    "intervalCount": gettext_lazy("Number of intervals"),
    "quantity": gettext_lazy("Quantity"),
    "kind": gettext_lazy("Kind of event"),
    "status": gettext_lazy("Status"),
    "externalId": gettext_lazy("External ID"),
}


@dataclass(frozen=True, slots=True)
class EventReview:
    """What a review shows: the outcome of a trial or its error, and how the file's columns are read."""

    outcome: EventFileOutcome | None
    error: DomainError | None
    table: EventTable


@company_page(reads=Permission.SUBSCRIPTIONS_WRITE, writes=Permission.SUBSCRIPTIONS_WRITE, uploads=True)
def upload_events_page(page: CompanyPage) -> HttpResponse:
    """Show the upload form; a POST stores the file and leads to its review."""
    error, status = "", 200
    if page.is_post:
        try:
            return redirect_to_review(page)
        except DomainError as problem:
            error, status = describe_upload_error(problem)
    return page.render(
        "ledger/subscriptions/event_import_new.html",
        status=status,
        tab="recurring-revenue",
        error=error,
        most=settings.MAX_UPLOAD_MB,
        most_rows=MAX_EVENT_ROWS,
    )


def redirect_to_review(page: CompanyPage) -> HttpResponse:
    """Store the uploaded file and redirect to its review. Raises DomainError if it is no table."""
    upload_id, name = store_posted_table(page, check=read_uploaded_table)
    path = reverse("subscription-event-import-check", args=[page.company.id, upload_id])
    return redirect(f"{path}?{urlencode({'name': name})}")


@company_page(reads=Permission.SUBSCRIPTIONS_WRITE, writes=Permission.SUBSCRIPTIONS_WRITE)
def review_events_page(page: CompanyPage, upload_id: UUID) -> HttpResponse:
    """Show what the file would store and what is wrong with it; a POST imports it."""
    form_data = page.request.POST if page.is_post else page.request.GET
    owner = get_upload_owner(page)
    try:
        content = uploads.read_upload(**owner, upload_id=upload_id)
    except uploads.UploadExpired as expired:
        return page.redirect_with_message(expired.detail, "subscription-event-import-new")
    outcome, error, options = None, None, EventFileOptions()
    try:
        options = parse_event_file_options(form_data)
        outcome = import_subscription_event_file(
            company=page.company,
            context=page.audit_context,
            content=content,
            filename=clean_filename(form_data.get("name") or "file"),
            options=replace(options, dry_run=not page.is_post),
        )
    except DomainError as problem:
        error = problem
    if outcome and page.is_post:
        uploads.delete_upload(**owner, upload_id=upload_id)
        return redirect_to_import(page, outcome)
    table = find_event_table(read_uploaded_table(content), options.columns)
    return render_review(page, EventReview(outcome, error, table))


def redirect_to_import(page: CompanyPage, outcome: EventFileOutcome) -> HttpResponse:
    """Redirect to what was imported; to the list of events if nothing was."""
    message = format_import_message(outcome)
    if outcome.event_import is None:
        return page.redirect_with_message(message, "subscription-events")
    return page.redirect_with_message(message, "subscription-event-import", event_import_id=outcome.event_import.id)


def format_import_message(outcome: EventFileOutcome) -> str:
    """Return what an import did: "12 events imported. Already stored: 3." """
    texts = [
        ngettext("{count} event imported.", "{count} events imported.", outcome.count).format(
            count=format_count(outcome.count)
        )
    ]
    if outcome.duplicates:
        texts.append(_("Already stored: {count}.").format(count=format_count(outcome.duplicates)))
    if outcome.left_out:
        texts.append(_("Not paid: {count}.").format(count=format_count(outcome.left_out)))
    return " ".join(texts)


def render_review(page: CompanyPage, review: EventReview) -> HttpResponse:
    """Render the review of a file."""
    form_data = page.request.POST if page.is_post else page.request.GET
    outcome, error = review.outcome, review.error
    chosen_options = {name: form_data.get(name, "") for name in OPTION_FIELDS}
    row_errors = list_row_errors(error)
    pointers = [pointer for pointer, *_ in error.errors] if isinstance(error, ValidationFailed) else []
    question_names = [name for name in (*QUESTIONS, *COLUMN_LABELS) if chosen_options[name] or f"#/{name}" in pointers]
    return page.render(
        "ledger/subscriptions/event_import_check.html",
        status=400 if error else 200,
        tab="recurring-revenue",
        name=form_data.get("name", ""),
        outcome=outcome,
        summary=describe_outcome(outcome) if outcome else "",
        rows=describe_events(page, outcome.events[:ROWS_SHOWN]) if outcome else [],
        more=max(outcome.count - ROWS_SHOWN, 0) if outcome else 0,
        error="" if error is None or row_errors else describe_closed_months(error) or get_error_message(error),
        is_closed=isinstance(error, PeriodClosed),
        row_errors=row_errors[:ERRORS_SHOWN],
        chosen=chosen_options,
        questions=[build_question(name, chosen_options[name], review.table) for name in question_names],
        columns=describe_columns(review.table),
    )


def list_row_errors(error: DomainError | None) -> list[str]:
    """Return what is wrong with rows of the file, each with its line."""
    if isinstance(error, ValidationFailed):
        return [detail for pointer, _, detail in error.errors if pointer.startswith("#/events/")]
    return []


def describe_closed_months(error: DomainError | None) -> str:
    """Return how many events are in which closed months; empty for other errors."""
    if not isinstance(error, PeriodClosed) or not error.days:
        return ""
    format_month = get_current_locale().format_month
    first, last = (format_month(get_first_day_of_month(day), full=True) for day in (error.days[0], error.days[-1]))
    text = ngettext(
        "{count} new event is in a closed month: {months}. Reopen it, or leave out the event.",
        "{count} new events are in closed months: {months}. Reopen them, or leave out the events.",
        len(error.days),
    )
    months = first if first == last else _("{first} to {last}").format(first=first, last=last)
    return text.format(count=format_count(len(error.days)), months=months)


def build_question(name: str, value: str, table: EventTable) -> dict[str, Any]:
    """Return a question with its choices: of the file's headings for a column."""
    if name in COLUMN_LABELS:
        headings = [(heading, heading) for heading in table.headings if heading]
        return {"field": name, "label": COLUMN_LABELS[name], "choices": headings, "chosen": value}
    label, choices = QUESTIONS[name]
    return {"field": name, "label": label, "choices": list(choices.items()), "chosen": value}


def describe_columns(table: EventTable) -> list[tuple[str, Any]]:
    """Return (heading, what it is read as) of each column; None for columns that are not read."""
    fields = {position: name for name, position in table.columns.positions.items()}
    return [
        (heading, FIELD_LABELS[fields[position]] if position in fields else None)
        for position, heading in enumerate(table.headings)
        if heading
    ]


def describe_events(page: CompanyPage, events: Sequence[TableEvent]) -> list[dict[str, Any]]:
    """Return events as they are shown before they are stored."""
    return [
        {
            "date": event.date,
            "customer": event.customer or event.customer_external_id,
            "product": event.product or event.product_external_id,
            "amount": event.amount,
            "currency": event.currency or page.company.base_currency,
            "every": format_billing_interval(event.interval, event.interval_count),
        }
        for event in events
    ]


def describe_outcome(outcome: EventFileOutcome) -> list[tuple[Any, int]]:
    """Return the label and count of each outcome of a trial."""
    counts = [
        (_("New events"), outcome.count),
        (_("Already stored, left out"), outcome.duplicates),
        (_("Trials and drafts, left out"), outcome.left_out),
        (_("New subscriptions"), outcome.subscriptions),
        (_("New customers"), outcome.customers),
        (_("New products"), outcome.products),
    ]
    return [(label, count) for row, (label, count) in enumerate(counts) if count or row == 0]

"""Pages of imports of subscription events: the list, what one stored, and undo."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.audit.names import find_actor_names
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.models import SubscriptionEvent, SubscriptionEventImport
from ledger.subscriptions.actions.event_import_undo import EventImportUndoOutcome, undo_subscription_event_import
from ledger.subscriptions.pages.subscriptions import format_billing_interval
from ledger.transactions.pages.labels import HIDDEN_NAME

PAGE_SIZE = 25


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def show_event_imports(page: CompanyPage) -> HttpResponse:
    """Show the imports of subscription events, the latest first, including undone ones."""
    imports = SubscriptionEventImport.objects.for_company(page.company.id)
    rows, cursor = page.paginate(imports, order=("-created_time", "-id"), limit=PAGE_SIZE)
    return page.render("ledger/subscriptions/event_imports.html", tab="recurring-revenue", rows=rows, cursor=cursor)


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def show_event_import(page: CompanyPage, event_import_id: UUID) -> HttpResponse:
    """Show what is left of an import, and what undoing it would retract."""
    row = get_object_or_404(SubscriptionEventImport.objects.for_company(page.company.id), id=event_import_id)
    events = SubscriptionEvent.objects.for_company(page.company.id).filter(event_import=row)
    shown = events.select_related("subscription__customer", "subscription__product")
    rows, cursor = page.paginate(shown, order=("id",), limit=PAGE_SIZE)
    return page.render(
        "ledger/subscriptions/event_import.html",
        tab="recurring-revenue",
        row=row,
        who=find_actor_names(page, {row.created_user_id or ""}).get(row.created_user_id or "", _("System")),
        events=[
            {"row": event, "every": format_billing_interval(event.interval, event.interval_count)} for event in rows
        ],
        cursor=cursor,
        left=events.not_retracted().count(),
        writes=page.has_permission(Permission.SUBSCRIPTIONS_WRITE),
        names_customers=page.has_permission(Permission.COUNTERPARTIES_READ),
        names_products=page.has_permission(Permission.PRODUCTS_READ),
        not_shown=HIDDEN_NAME,
    )


@company_page(writes=Permission.SUBSCRIPTIONS_WRITE)
def undo_event_import_page(page: CompanyPage, event_import_id: UUID) -> HttpResponse:
    """Undo an import."""
    with page.handle_errors():
        outcome = undo_subscription_event_import(
            company=page.company, context=page.audit_context, import_id=event_import_id
        )
        return page.redirect_with_message(
            format_undo_message(outcome), "subscription-event-import", event_import_id=event_import_id
        )
    return page.redirect("subscription-event-import", event_import_id=event_import_id)


def format_undo_message(outcome: EventImportUndoOutcome) -> str:
    """Describe what undoing an import did."""
    sentences = [
        ngettext("{count} event retracted.", "{count} events retracted.", outcome.retracted).format(
            count=format_count(outcome.retracted)
        )
    ]
    if outcome.subscriptions:
        text = ngettext("{count} subscription deleted.", "{count} subscriptions deleted.", outcome.subscriptions)
        sentences.append(text.format(count=format_count(outcome.subscriptions)))
    if outcome.customers:
        text = ngettext("{count} customer deleted.", "{count} customers deleted.", outcome.customers)
        sentences.append(text.format(count=format_count(outcome.customers)))
    if outcome.products:
        text = ngettext("{count} product deleted.", "{count} products deleted.", outcome.products)
        sentences.append(text.format(count=format_count(outcome.products)))
    return " ".join(sentences)

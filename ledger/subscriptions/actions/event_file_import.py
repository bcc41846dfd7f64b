"""Import subscription events from a CSV file or workbook: all rows or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.utils.translation import gettext as _

from companies.api.limits import MAX_ERRORS
from companies.change import CompanyChange, change_company
from companies.counters import count_import_outcome
from companies.errors import ValidationFailed
from companies.locales import get_current_locale
from companies.models import AuditContext, Company
from companies.pages.csv_escaping import restore_escaped_text
from ledger.bank_statements.errors import ColumnsUnknown
from ledger.bulk.request_bodies import BulkRequest, Fault
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder
from ledger.imports.calc.named_columns import RowFault
from ledger.imports.file_errors import TooManyRows
from ledger.imports.name_faults import find_name_faults
from ledger.imports.row_errors import build_row_error, check_row_widths, check_rows_exist
from ledger.imports.table_items import read_uploaded_table
from ledger.models import ExternalIdTaken, SubscriptionEvent, SubscriptionEventImport
from ledger.money.calc.money import format_amount
from ledger.subscriptions.actions.import_references import ImportReferences, load_import_references
from ledger.subscriptions.actions.subscription_event_import import (
    EventImportItem,
    EventImportOutcome,
    EventValues,
    store_imported_events,
    validate_event_items,
)
from ledger.subscriptions.calc.event_table import (
    AmountInterval,
    EventRows,
    EventTable,
    EventTableReading,
    QuantityMode,
    TableEvent,
    find_event_table,
    read_event_rows,
)

MAX_EVENT_ROWS = 10_000  # in one file
COLUMN_QUESTIONS = {"customer": "customerColumn", "eventDate": "dateColumn", "amount": "amountColumn"}


@dataclass(frozen=True, slots=True)
class EventFileOptions:
    """How a file is read. None: what the file itself proves."""

    date_order: DateOrder | None = None
    decimal_mark: DecimalMark | None = None
    interval: AmountInterval | None = None  # of amounts without one
    quantity: QuantityMode | None = None  # whether amounts are multiplied by it
    columns: Mapping[str, str] = field(default_factory=dict)  # field → heading
    dry_run: bool = False


@dataclass(slots=True)
class EventFileOutcome(EventImportOutcome):
    """What an import of a file did, or would do."""

    left_out: int = 0  # rows that count for nothing, such as trials
    customers: int = 0  # created
    products: int = 0
    subscriptions: int = 0
    events: Sequence[TableEvent] = ()  # new ones
    event_import: SubscriptionEventImport | None = None  # None if nothing was stored


def import_subscription_event_file(
    *, company: Company, context: AuditContext, content: bytes, filename: str, options: EventFileOptions
) -> EventFileOutcome:
    """Import subscription events from a table. Missing subscriptions, customers and products are created.

    Rows without an id of their subscription mean that of their customer and product. An event that is stored already
    is a duplicate: by its external id, or without one by subscription, date and amount.

    Raises:
        ValidationFailed: rows are wrong, with pointers such as `#/events/0/eventDate`; or the file can be read in
            several ways, with a pointer to each option that is to be given.
        PeriodClosed: with pointers to the rows.
        ColumnsUnknown, UnreadableTable, TooManyRows, TableTooLarge, SeveralSheets, UnsafeXml.
    """
    table = read_event_table(content, options.columns)
    with change_company(company, context=context) as change:
        rows = read_events(table, options=options, default_currency=company.base_currency)
        items = [to_import_item(event, company.base_currency) for event in rows.events]
        faults = [
            *rows.faults,
            *find_name_faults(rows.events, {"customer": "customer", "product": "product"}),
            *find_other_customer_faults(rows.events, items),
            *find_changed_event_faults(company, rows.events, items),
        ]
        if faults:
            raise ValidationFailed([build_row_error(fault, items="events") for fault in faults[:MAX_ERRORS]])
        references = load_import_references(company=company, items=items, finds_by_customer=True)
        if unknown := find_unknown_cancellation_faults(rows.events, items, references):
            raise ValidationFailed([build_row_error(fault, items="events") for fault in unknown[:MAX_ERRORS]])
        events, items = drop_events_that_start_nothing(rows.events, items, references)
        left_out = rows.left_out + len(rows.events) - len(events)
        outcome = EventFileOutcome(dry_run=options.dry_run, left_out=left_out)
        new_rows = validate_event_items(
            company=company,
            request=BulkRequest(items=items),
            references=references,
            outcome=outcome,
            positions=[event.position for event in events],
            known_values=load_event_values(company, references, items),
        )
        if outcome.errors:
            raise ValidationFailed(name_error_lines(outcome.errors[:MAX_ERRORS], events))
        events_by_item = {id(item): event for item, event in zip(items, events, strict=True)}
        outcome.events = [events_by_item[id(item)] for _, item in new_rows]
        fill_counts(outcome, references)
        count_import_outcome(source="subscriptionEvents", outcome=outcome)
        if new_rows and not options.dry_run:
            outcome.event_import = insert_event_import(change, outcome, references=references, filename=filename)
            store_imported_events(
                change, outcome, rows=new_rows, references=references, event_import=outcome.event_import
            )
    return outcome


def read_event_table(content: bytes, columns: Mapping[str, str]) -> EventTable:
    """Return the table of a file.

    Args:
        columns: field → heading, for columns that no heading names.

    Raises:
        ValidationFailed: a chosen heading is not in the file.
        ColumnsUnknown: two columns have one heading, or no heading names a column.
        UnreadableTable, TooManyRows, TableTooLarge, SeveralSheets, UnsafeXml.
    """
    table = find_event_table(read_uploaded_table(content), columns)
    if unknown := [name for name, heading in columns.items() if heading not in table.headings]:
        detail = _("The file has no column with this heading.")
        raise ValidationFailed([(f"#/{COLUMN_QUESTIONS[name]}", "invalid_choice", detail) for name in unknown])
    if not table.columns.positions:
        raise ColumnsUnknown(_("No column found. Add headings such as Customer, Date and MRR to the first row."))
    if repeated := table.repeated_headings:
        raise ColumnsUnknown(_("Two columns are named “{name}”. Rename one of them.").format(name=repeated[0][:80]))
    if len(table.rows) > MAX_EVENT_ROWS:
        detail = _("The file has more than {most} rows. Split it.")
        raise TooManyRows(detail.format(most=get_current_locale().format_number(MAX_EVENT_ROWS)))
    check_rows_exist(table)
    check_row_widths(table, content)
    return table


def read_events(table: EventTable, *, options: EventFileOptions, default_currency: str) -> EventRows:
    """Read the rows.

    Raises:
        ValidationFailed: the file can be read in several ways and the options do not say in which, or its dates
            contradict each other.
    """
    if options.date_order is None and (fault := table.find_date_fault()):
        raise ValidationFailed([build_row_error(fault, items="events")])
    date_orders = [options.date_order] if options.date_order else table.find_date_orders()
    decimal_marks = [options.decimal_mark] if options.decimal_mark else table.find_decimal_marks()
    open_questions = [
        *[(COLUMN_QUESTIONS[name], "required", get_column_question(name)) for name in table.missing],
        *list_open_options(table, options, date_orders=date_orders, decimal_marks=decimal_marks),
    ]
    if open_questions:
        raise ValidationFailed([(f"#/{name}", code, detail) for name, code, detail in open_questions])
    reading = EventTableReading(
        date_orders[0], decimal_marks[0], default_currency, options.interval, options.quantity or "ignore"
    )
    return read_event_rows(table, reading)


def get_column_question(name: str) -> str:
    """Return the error of a field without a column."""
    texts = {
        "customer": _("No column with the customer found. Choose it."),
        "eventDate": _("No column with the date of the event found. Choose it."),
        "amount": _("No column with the MRR or amount found. Choose it."),
    }
    return texts[name]


def list_open_options(
    table: EventTable,
    options: EventFileOptions,
    *,
    date_orders: Sequence[DateOrder],
    decimal_marks: Sequence[DecimalMark],
) -> list[Fault]:
    """Return (option, code, detail) of what the file does not prove."""
    questions: list[Fault] = []
    if len(date_orders) > 1:
        questions.append(("dateOrder", "ambiguous", _("Day and month of the dates are ambiguous. Choose their order.")))
    if len(decimal_marks) > 1:
        questions.append(("decimalMark", "ambiguous", _("The decimal mark of the amounts is ambiguous. Choose it.")))
    if table.needs_interval and options.interval is None:
        questions.append(("interval", "ambiguous", _("The file does not say how often amounts are billed. Choose it.")))
    if table.needs_quantity and options.quantity is None:
        detail = _("Amounts may be per unit. Choose whether they are multiplied by the quantity.")
        questions.append(("quantity", "ambiguous", detail))
    return questions


def to_import_item(event: TableEvent, default_currency: str) -> EventImportItem:
    """Return the event as the API takes it. Texts are as they were before an export escaped them for spreadsheets."""
    currency = event.currency or default_currency

    def restore(text: str) -> str | None:
        return restore_escaped_text(text).strip() or None

    return EventImportItem(
        effective_date=event.date,
        amount_value=format_amount(event.amount, currency),
        amount_currency=currency,
        interval=event.interval,
        interval_count=event.interval_count,
        external_id=restore(event.external_id),
        subscription_external_id=restore(event.subscription_external_id),
        customer_name=restore(event.customer),
        customer_external_id=restore(event.customer_external_id),
        product_name=restore(event.product),
        product_external_id=restore(event.product_external_id),
    )


def find_other_customer_faults(events: Sequence[TableEvent], items: Sequence[EventImportItem]) -> list[RowFault]:
    """Return faults of events whose subscription has another customer in an earlier row.

    Customers differ by their external ids, or by their names where a row lacks the external id.
    """
    first_rows: dict[str, tuple[int, EventImportItem]] = {}  # subscription → line and item that name it first
    faults = []
    for event, item in zip(events, items, strict=True):
        if item.subscription_external_id is None:
            continue
        line, first = first_rows.setdefault(item.subscription_external_id, (event.line, item))
        ids = first.customer_external_id, item.customer_external_id
        customer, other = ids if all(ids) else (first.customer_name, item.customer_name)
        if customer and other and customer != other:
            faults.append(
                RowFault(
                    event.position,
                    event.line,
                    "customer",
                    "invalid_value",
                    "This subscription belongs to “{customer}” on line {first_line}.",
                    {"customer": customer[:80], "first_line": str(line)},
                )
            )
    return faults


def find_changed_event_faults(
    company: Company, events: Sequence[TableEvent], items: Sequence[EventImportItem]
) -> list[RowFault]:
    """Return faults of events whose external id is that of another event: stored, or earlier in the file."""
    external_ids = {item.external_id for item in items if item.external_id is not None}
    rows = SubscriptionEvent.objects.for_company(company.id).not_retracted().filter(external_id__in=external_ids)
    columns = ("effective_date", "amount_value", "amount_currency", "interval", "interval_count")
    stored_events = {external_id: values for external_id, *values in rows.values_list("external_id", *columns)}
    faults = []
    for event, item in zip(events, items, strict=True):
        if item.external_id is None:
            continue
        values = [event.date, event.amount, item.amount_currency, event.interval, event.interval_count]
        if stored_events.setdefault(item.external_id, values) != values:
            message = "Another event already has this external ID."
            faults.append(RowFault(event.position, event.line, "externalId", str(ExternalIdTaken.code), message, {}))
    return faults


def find_unknown_cancellation_faults(
    events: Sequence[TableEvent], items: Sequence[EventImportItem], references: ImportReferences
) -> list[RowFault]:
    """Return faults of cancellations of subscriptions that are neither stored nor started by the file."""
    started = {
        key for event, item in zip(events, items, strict=True) if not event.is_cancellation for key in list_keys(item)
    }
    return [
        RowFault(
            event.position,
            event.line,
            "customer",
            "unknown_id",
            "This subscription does not exist and does not start in this file.",
            {},
        )
        for event, item in zip(events, items, strict=True)
        if event.is_cancellation
        and not references.find_error(item)
        and references.find_subscription_id(item) is None
        and started.isdisjoint(list_keys(item))
    ]


def drop_events_that_start_nothing(
    events: Sequence[TableEvent], items: Sequence[EventImportItem], references: ImportReferences
) -> tuple[list[TableEvent], list[EventImportItem]]:
    """Return events and items without those of zero whose subscription is neither stored nor ever worth anything.

    They would create a customer who never paid.
    """
    worth_something = {
        key for event, item in zip(events, items, strict=True) if event.amount for key in list_keys(item)
    }
    pairs = [
        (event, item)
        for event, item in zip(events, items, strict=True)
        if event.amount
        or not worth_something.isdisjoint(list_keys(item))
        or references.find_error(item)
        or references.find_subscription_id(item) is not None
    ]
    return [event for event, _ in pairs], [item for _, item in pairs]


def list_keys(item: EventImportItem) -> list[tuple[str, str]]:
    """Return what names the subscription of an item: its own id, or else its customer."""
    names = (
        {"subscription": item.subscription_external_id}
        if item.subscription_external_id
        else {"customer": item.customer_external_id, "name": item.customer_name}
    )
    return [(name, text) for name, text in names.items() if text]


def load_event_values(
    company: Company, references: ImportReferences, items: Sequence[EventImportItem]
) -> set[EventValues]:
    """Return the values of live events of the items' subscriptions."""
    subscription_ids = {references.find_subscription_id(item) for item in items if not references.find_error(item)}
    rows = SubscriptionEvent.objects.for_company(company.id).not_retracted()
    columns = ("effective_date", "amount_value", "amount_currency", "interval", "interval_count")
    return {
        (str(subscription_id), *values)
        for subscription_id, *values in rows.filter(subscription__in=subscription_ids - {None}).values_list(
            "subscription_id", *columns
        )
    }


def name_error_lines(errors: Sequence[Fault], events: Sequence[TableEvent]) -> list[Fault]:
    """Return the errors with the line of their row in the detail."""
    lines = {str(event.position): event.line for event in events}
    return [
        (pointer, code, _("Line {line}: {reason}").format(line=lines[pointer.split("/")[2]], reason=detail))
        for pointer, code, detail in errors
    ]


def fill_counts(outcome: EventFileOutcome, references: ImportReferences) -> None:
    """Set how many events are new, and how many other records they create."""
    outcome.count = len(outcome.events)
    outcome.customers = len(references.customers.created)
    outcome.products = len(references.products.created)
    outcome.subscriptions = len(references.created)


def insert_event_import(
    change: CompanyChange, outcome: EventFileOutcome, *, references: ImportReferences, filename: str
) -> SubscriptionEventImport:
    """Store what the import is; its events refer to it."""
    return change.insert(
        SubscriptionEventImport(
            company=change.company,
            filename=filename,
            count=outcome.count,
            duplicates=outcome.duplicates,
            left_out=outcome.left_out,
            customer_ids=[UUID(row[0]) for row in references.customers.created],
            product_ids=[UUID(row[0]) for row in references.products.created],
            subscription_ids=[UUID(row[0]) for row in references.created],
        )
    )

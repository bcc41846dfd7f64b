"""Import open invoices from a table: all rows or none."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal
from uuid import UUID

from django.utils.translation import gettext as _

from companies.api.limits import MAX_ERRORS
from companies.change import CompanyChange, change_company
from companies.counters import count_import_outcome
from companies.errors import ValidationFailed, build_unknown_id_error
from companies.locales import get_current_locale
from companies.models import AuditContext, Company
from companies.names import build_name
from companies.pages.csv_escaping import restore_escaped_text
from ledger.bank_statements.errors import ColumnsUnknown
from ledger.bulk.request_bodies import Fault
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder
from ledger.imports.file_errors import TooManyRows
from ledger.imports.name_faults import find_name_faults
from ledger.imports.row_errors import build_row_error, check_row_widths, check_rows_exist
from ledger.imports.table_items import read_uploaded_table
from ledger.models import Account, Counterparty, CounterpartyType, Direction
from planning.calc.expected_dates import add_days
from planning.calc.invoice_parties import normalize_party_name
from planning.invoice_files.actions import DuplicateInvoice, join_invoice_name
from planning.invoice_files.queries import find_planned_numbers, get_counterparty_type
from planning.invoices.calc.invoice_table import (
    InvoiceRows,
    InvoiceTable,
    TableInvoice,
    find_invoice_table,
    read_invoice_rows,
)
from planning.invoices.csv_columns import get_invoice_headings
from planning.models import InvoiceImport, InvoiceKind, PlannedSource, PlannedTransaction

NAME_ATTRIBUTES = {"invoiceNumber": "number", "counterparty": "counterparty"}
MAX_INVOICES = 10_000  # in one file
BATCH_SIZE = 1000
NegativeAmounts = Literal["invoices", "creditNotes"]
DIRECTIONS: dict[InvoiceKind, Direction] = {"receivables": Direction.IN, "payables": Direction.OUT}
OTHER_TYPES = {Direction.IN: CounterpartyType.VENDOR, Direction.OUT: CounterpartyType.CUSTOMER}


@dataclass(frozen=True, slots=True)
class InvoiceImportOptions:
    """How a file is read, and what it is imported as. None: what the file itself proves."""

    account_id: UUID | None = None
    date_order: DateOrder | None = None
    decimal_mark: DecimalMark | None = None
    negative_amounts: NegativeAmounts | None = None  # of payables
    skip_duplicates: bool = False
    dry_run: bool = False


@dataclass(slots=True)
class InvoiceImportOutcome:
    """What an import did, or would do."""

    count: int = 0
    settled_count: int = 0  # rows without an open amount
    duplicates: int = 0
    counterparties: int = 0  # created
    errors: list[Fault] = field(default_factory=list)  # always empty: no row with an error is skipped
    invoices: Sequence[PlannedTransaction] = ()
    unused_columns: Sequence[str] = ()  # headings of columns that are not read
    dry_run: bool = False
    invoice_import: InvoiceImport | None = None  # None if nothing was stored


def import_invoices(
    *,
    company: Company,
    context: AuditContext,
    kind: InvoiceKind,
    content: bytes,
    filename: str,
    source: PlannedSource,
    options: InvoiceImportOptions,
) -> InvoiceImportOutcome:
    """Import open invoices from a CSV file or workbook, all or none. Missing customers or vendors are created.

    Raises:
        ValidationFailed: rows are wrong, with pointers such as `#/invoices/0/dueDate`; or the file can be read in
            several ways, with a pointer to each option that is to be given.
        DuplicateInvoice: with pointers to the rows, unless they are skipped.
        ColumnsUnknown, UnreadableTable, TooManyRows, TableTooLarge, SeveralSheets, UnsafeXml.
    """
    table = read_invoice_table(content)
    with change_company(company, context=context) as change:
        currency = get_import_currency(company, options.account_id)
        rows, sign = read_invoices(table, kind=kind, options=options, default_currency=currency)
        if faults := rows.faults + find_name_faults(rows.invoices, NAME_ATTRIBUTES):
            raise ValidationFailed([build_row_error(fault, items="invoices") for fault in faults[:MAX_ERRORS]])
        parties = PartyLookup(change, DIRECTIONS[kind])
        invoices, duplicates = drop_duplicate_invoices(
            company, rows.invoices, parties=parties, kind=kind, options=options
        )
        outcome = InvoiceImportOutcome(len(invoices), rows.settled_count, duplicates, dry_run=options.dry_run)
        outcome.invoices = [
            build_planned_invoice(
                change,
                invoice,
                counterparty=parties.find_or_build(invoice.counterparty),
                amount=sign * invoice.amount,
                currency=invoice.currency or currency,
                account_id=options.account_id,
                source=source,
            )
            for invoice in invoices
        ]
        outcome.counterparties, outcome.unused_columns = len(parties.new), table.unused_headings
        count_import_outcome(source="invoices", outcome=outcome)
        if outcome.invoices and not options.dry_run:
            store_invoices(change, outcome, kind=kind, filename=filename, new_counterparties=parties.new)
    return outcome


def read_invoice_table(content: bytes) -> InvoiceTable:
    """Return the table of a file.

    Raises:
        ColumnsUnknown: a column is missing, or two have one heading.
        UnreadableTable, TooManyRows, TableTooLarge, SeveralSheets, UnsafeXml.
    """
    table = find_invoice_table(read_uploaded_table(content))
    if missing := table.missing:
        labels = get_invoice_headings()
        names = ", ".join(f"“{labels[name]}”" for name in missing)
        raise ColumnsUnknown(_("No column found for {names}. Add it to the first row.").format(names=names))
    if repeated := table.repeated_headings:
        raise ColumnsUnknown(_("Two columns are named “{name}”. Rename one of them.").format(name=repeated[0][:80]))
    if len(table.rows) > MAX_INVOICES:
        detail = _("The file has more than {most} rows. Split it.")
        raise TooManyRows(detail.format(most=get_current_locale().format_number(MAX_INVOICES)))
    check_rows_exist(table)
    check_row_widths(table, content)
    return table


def get_import_currency(company: Company, account_id: UUID | None) -> str:
    """Return the currency of amounts without one: that of the account, else the base currency. Raises `unknown_id`."""
    if account_id is None:
        return company.base_currency
    accounts = Account.objects.for_company(company.id).filter(id=account_id)
    currency = accounts.values_list("default_currency", flat=True).first()
    if currency is None:
        raise build_unknown_id_error("#/accountId")
    return currency


def read_invoices(
    table: InvoiceTable, *, kind: InvoiceKind, options: InvoiceImportOptions, default_currency: str
) -> tuple[InvoiceRows, int]:
    """Read the rows, and return with them the sign that turns their amounts into those of planned transactions.

    Raises:
        ValidationFailed: the file can be read in several ways and the options do not say in which, or its dates
            contradict each other.
    """
    if options.date_order is None and (fault := table.find_date_fault()):
        raise ValidationFailed([build_row_error(fault, items="invoices")])
    date_orders = [options.date_order] if options.date_order else table.find_date_orders()
    marks = [options.decimal_mark] if options.decimal_mark else table.find_decimal_marks()
    questions = []
    if len(date_orders) > 1:
        questions.append(
            ("#/dateOrder", "ambiguous", _("Day and month of the dates are ambiguous. Choose their order."))
        )
    if len(marks) > 1:
        questions.append(("#/decimalMark", "ambiguous", _("The decimal mark of the amounts is ambiguous. Choose it.")))
    sign, negative_amounts = 1, options.negative_amounts
    if kind == "payables":
        if negative_amounts is None and any(map(table.has_negative_amount, marks)):
            detail = _("Some amounts are negative. Choose whether they are invoices or credit notes.")
            questions.append(("#/negativeAmounts", "ambiguous", detail))
        sign = 1 if negative_amounts == "invoices" else -1
    if questions:
        raise ValidationFailed(questions)
    rows = read_invoice_rows(table, date_order=date_orders[0], decimal_mark=marks[0], default_currency=default_currency)
    rows.invoices = [unescape_invoice_texts(invoice) for invoice in rows.invoices]
    return rows, sign


def unescape_invoice_texts(invoice: TableInvoice) -> TableInvoice:
    """Return the invoice with texts as they were before an export escaped them for spreadsheets."""
    return replace(
        invoice,
        number=restore_escaped_text(invoice.number),
        counterparty=restore_escaped_text(invoice.counterparty),
        name=restore_escaped_text(invoice.name),
        reference=restore_escaped_text(invoice.reference),
        texts={column: restore_escaped_text(text) for column, text in invoice.texts.items()},
    )


def drop_duplicate_invoices(
    company: Company,
    invoices: Sequence[TableInvoice],
    *,
    parties: "PartyLookup",
    kind: InvoiceKind,
    options: InvoiceImportOptions,
) -> tuple[list[TableInvoice], int]:
    """Return the new invoices, and how many are planned already or repeated in the file: same seller and number.

    Raises:
        DuplicateInvoice: there are some, and they are not skipped.
    """
    direction = DIRECTIONS[kind]
    planned_ids: dict[tuple[str, UUID | None], UUID | None] = dict(
        find_planned_numbers(company, numbers={invoice.number for invoice in invoices}, direction=direction).items()
    )
    new_sellers: dict[tuple[str, str], TableInvoice] = {}
    new_invoices, duplicates = [], []
    for invoice in invoices:
        counterparty = parties.find(invoice.counterparty) if direction == Direction.OUT else None
        key = invoice.number.lower(), counterparty.id if counterparty else None
        is_planned = key in planned_ids and (direction == Direction.IN or counterparty is not None)
        seller = parties.get_key(invoice.counterparty) if direction == Direction.OUT else ""
        if is_planned or (key[0], seller) in new_sellers:
            duplicates.append((invoice, planned_ids.get(key)))
        else:
            new_sellers[key[0], seller] = invoice
            new_invoices.append(invoice)
    if duplicates and not options.skip_duplicates:
        planned_id = next((planned_id for _, planned_id in duplicates if planned_id), None)
        pointers = [f"#/invoices/{invoice.position}/invoiceNumber" for invoice, _ in duplicates]
        raise DuplicateInvoice(planned_id, company_id=company.id, pointers=pointers)
    return new_invoices, len(duplicates)


class PartyLookup:
    """The counterparties of a company by name: those of the direction's type first, then others, oldest first."""

    def __init__(self, change: CompanyChange, direction: Direction):
        self.change, self.type = change, get_counterparty_type(direction)
        rows = Counterparty.objects.for_company(change.company.id).exclude(type=OTHER_TYPES[direction]).order_by("id")
        self.by_name: dict[str, Counterparty] = {}
        self.new: list[Counterparty] = []  # not stored yet
        for fold in (str.casefold, normalize_party_name):
            self.add(sorted(rows, key=lambda row: row.type != self.type), fold)

    def add(self, rows: Sequence[Counterparty], fold: Callable[[str], str]) -> None:
        for row in rows:
            if key := fold(row.name):
                self.by_name.setdefault(key, row)

    def get_key(self, name: str) -> str:
        """Return what names of one counterparty have in common."""
        result = self.find(name)
        return str(result.id) if result else normalize_party_name(name) or name.casefold()

    def find(self, name: str) -> Counterparty | None:
        """Return the counterparty of this name; one written exactly so comes first."""
        return self.by_name.get(name.casefold()) or self.by_name.get(normalize_party_name(name))

    def find_or_build(self, name: str) -> Counterparty:
        """Return the counterparty of this name, or a new one."""
        counterparty = self.find(name)
        if counterparty is None:
            counterparty = Counterparty(company=self.change.company, name=name, type=self.type)
            counterparty.mark_created(self.change.context)
            self.new.append(counterparty)
            self.add([counterparty], str.casefold)
            self.add([counterparty], normalize_party_name)
        return counterparty


def build_planned_invoice(
    change: CompanyChange,
    invoice: TableInvoice,
    *,
    counterparty: Counterparty,
    amount: Decimal,
    currency: str,
    account_id: UUID | None,
    source: PlannedSource,
) -> PlannedTransaction:
    """Build the planned transaction of an invoice."""
    name = build_name(invoice.name) if invoice.name else join_invoice_name(invoice.counterparty, invoice.number)
    planned = PlannedTransaction(
        company_id=change.company.id,
        source=source,
        name=name,
        account_id=account_id,
        start_date=invoice.due_date or compute_terms_date(invoice),
        invoice_date=invoice.invoice_date,
        payment_terms=invoice.payment_terms,
        amount_value=amount,
        amount_currency=currency,
        counterparty=counterparty,
        external_invoice_id=invoice.reference or None,
        **{column: text or None for column, text in invoice.texts.items()},
        external_data={
            "invoice_number": invoice.number,
            "invoice_url": None,
            "collection_method": None,
            "attempted": None,
            "attempt_count": None,
            "next_payment_attempt_date": None,
            "due_date": invoice.due_date and invoice.due_date.isoformat(),
        },
    )
    planned.mark_created(change.context)
    return planned


def compute_terms_date(invoice: TableInvoice) -> dt.date:
    """Return the end of the payment terms; the invoice date without terms."""
    return add_days(invoice.invoice_date, invoice.payment_terms or 0)


def store_invoices(
    change: CompanyChange,
    outcome: InvoiceImportOutcome,
    *,
    kind: InvoiceKind,
    filename: str,
    new_counterparties: Sequence[Counterparty],
) -> None:
    """Store the invoices and their new counterparties with one audit entry."""
    outcome.invoice_import = change.insert(
        InvoiceImport(
            company=change.company,
            kind=kind,
            filename=filename,
            count=outcome.count,
            duplicates=outcome.duplicates,
            left_out=outcome.settled_count,
            counterparty_ids=[counterparty.id for counterparty in new_counterparties],
        )
    )
    Counterparty.objects.bulk_create(new_counterparties, batch_size=BATCH_SIZE)
    for planned in outcome.invoices:
        planned.invoice_import = outcome.invoice_import
    PlannedTransaction.objects.bulk_create(outcome.invoices, batch_size=BATCH_SIZE)
    after = {
        "count": outcome.count,
        "filename": filename,
        "import_id": str(outcome.invoice_import.id),
        "first_id": str(outcome.invoices[0].id),
        "last_id": str(outcome.invoices[-1].id),
        "created_counterparties": outcome.counterparties,
    }
    change.record_bulk("invoices.imported", "invoice", after=after)

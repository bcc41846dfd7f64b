"""Reads for invoices in files: whose they are, and whether they are planned already."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Lower

from companies.models import Company
from ledger.calc.text_normalization import fold_words
from ledger.models import Account, Counterparty, CounterpartyType, Direction
from planning.calc.invoice_parties import InvoiceParty, OwnIdentity, build_own_identity, normalize_party_name
from planning.models import InvoiceFile, PlannedTransaction


def build_planned_file_lookup(company_id: UUID) -> Any:
    """Return an expression for the planned transaction made from an annotated file."""
    links = InvoiceFile.objects.for_company(company_id).filter(file_id=OuterRef("id"))
    return Subquery(links.values("planned_id")[:1])


def load_own_identity(company: Company) -> OwnIdentity:
    """Return what a company is known by on invoices: its name, account numbers, and VAT ids of planned invoices."""
    accounts = Account.objects.for_company(company.id).filter(account_number__isnull=False)
    links = InvoiceFile.objects.for_company(company.id).filter(own_vat_id__isnull=False)
    return build_own_identity(
        names=[company.name],
        identifiers=[
            *filter(None, accounts.values_list("account_number", flat=True)),
            *filter(None, links.values_list("own_vat_id", flat=True).distinct()),
        ],
    )


def find_invoice_counterparty(company: Company, party: InvoiceParty, direction: Direction) -> Counterparty | None:
    """Return the customer (`in`) or vendor (`out`) by the VAT id of earlier invoices, by name, or by their IBAN.

    Parties that share an account, such as that of a factoring company, differ by their VAT ids.
    """
    counterparties = Counterparty.objects.for_company(company.id).filter(type=get_counterparty_type(direction))
    vat_id, iban = fold_words(party.vat_id), fold_words(party.iban)
    links = InvoiceFile.objects.for_company(company.id)
    same_account = links.filter(party_iban=iban)
    if vat_id:
        same_account = same_account.filter(party_vat_id=None)
    return (
        (vat_id and find_invoice_counterparty_by_earlier_invoice(counterparties, links.filter(party_vat_id=vat_id)))
        or find_invoice_counterparty_by_name(counterparties, party)
        or (iban and find_invoice_counterparty_by_earlier_invoice(counterparties, same_account))
        or None
    )


def get_counterparty_type(direction: Direction) -> CounterpartyType:
    return CounterpartyType.CUSTOMER if direction == Direction.IN else CounterpartyType.VENDOR


def find_invoice_counterparty_by_earlier_invoice(counterparties: Any, links: Any) -> Counterparty | None:
    """Return the counterparty of the latest of these invoices that has one."""
    ids = links.exclude(planned__counterparty=None).order_by("-id").values_list("planned__counterparty_id", flat=True)
    for counterparty_id in ids[:10]:
        counterparty: Counterparty | None = counterparties.filter(id=counterparty_id).first()
        if counterparty is not None:
            return counterparty
    return None


def find_invoice_counterparty_by_name(counterparties: Any, party: InvoiceParty) -> Counterparty | None:
    """Return the counterparty of this name; one written exactly so comes first, then the oldest."""
    names = {normalize_party_name(party.name), normalize_party_name(party.trading_name)} - {""}
    same_ids = [
        (name.casefold() != party.name.casefold(), row_id)
        for row_id, name in counterparties.order_by("id").values_list("id", "name")
        if normalize_party_name(name) in names
    ]
    result: Counterparty | None = counterparties.filter(id=min(same_ids)[1]).first() if same_ids else None
    return result


def find_planned_invoice(
    company: Company, *, number: str, direction: Direction, counterparty: Counterparty | None
) -> PlannedTransaction | None:
    """Return the planned transaction of an invoice with this number by the same seller.

    The seller is the company itself for money in, otherwise the counterparty.
    """
    if direction == Direction.OUT and counterparty is None:
        return None
    invoices = filter_invoices_by_direction(company, direction).filter(external_data__invoice_number__iexact=number)
    return (invoices.filter(counterparty=counterparty) if direction == Direction.OUT else invoices).first()


def find_planned_numbers(
    company: Company, *, numbers: Collection[str], direction: Direction
) -> dict[tuple[str, UUID | None], UUID]:
    """Return what is planned with these numbers: (number in lower case, seller) -> planned transaction id.

    The seller is a counterparty, or None for the company itself. One statement.
    """
    invoices = filter_invoices_by_direction(company, direction).annotate(
        number=Lower(KeyTextTransform("invoice_number", "external_data"))
    )
    rows = invoices.filter(number__in={number.lower() for number in numbers}).order_by("-id")
    columns = ("id", "number", "counterparty_id")
    return {
        (number, counterparty_id if direction == Direction.OUT else None): planned_id
        for planned_id, number, counterparty_id in rows.values_list(*columns)
    }


def filter_invoices_by_direction(company: Company, direction: Direction) -> QuerySet[PlannedTransaction]:
    """Return the planned invoices; for money in those that the company itself sold."""
    invoices = PlannedTransaction.objects.for_company(company.id).filter(frequency=None, invoice_date__isnull=False)
    if direction == Direction.OUT:
        return invoices
    links = InvoiceFile.objects.for_company(company.id)
    incoming_invoices = Q(id__in=links.filter(direction=Direction.IN).values("planned_id"))
    unlinked = ~Q(id__in=links.values("planned_id"))
    has_customer = Q(counterparty__type=CounterpartyType.CUSTOMER) | Q(counterparty=None, amount_value__gt=0)
    return invoices.filter(incoming_invoices | unlinked & has_customer)

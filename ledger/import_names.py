"""Which subscriptions, customers and products the items of an import name, and those that must be created for them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from companies.errors import UNKNOWN_ID
from companies.models import Company, Stamp, new_id
from ledger.importing import Error, nullable, spelled
from ledger.models import Counterparty, CounterpartyType, Product, ProductExternalId, Subscription


class Named(msgspec.Struct, gc=False, rename="camel", kw_only=True):
    """How an item names its subscription: by our id, or by another system's with whatever is needed to create it."""

    subscription_id: str | None = None
    subscription_external_id: str | None = None
    customer_external_id: str | None = None
    customer_name: str | None = None
    product_external_id: str | None = None
    product_name: str | None = None


@dataclass(slots=True)
class Directory:
    """Records of one kind by external id and by name; what is missing gets an id here and a row in ``made``."""

    by_external_id: dict[str, str] = field(default_factory=dict)
    by_name: dict[str, str] = field(default_factory=dict)
    made: list[tuple[str, str, str | None]] = field(default_factory=list)  # (id, name, external id)

    def found_or_made(self, external_id: str | None, name: str | None) -> str | None:
        """The id of the record so named; None where it has no name of either kind."""
        if external_id is None and name is None:
            return None
        table, key = (self.by_name, name) if external_id is None else (self.by_external_id, external_id)
        found = table.get(key)  # type: ignore[arg-type]
        if found is None:
            found = table[key] = str(new_id())  # type: ignore[index]
            self.made.append((found, name or key or "", external_id))
            self.by_name.setdefault(name or key or "", found)
        return found


@dataclass(slots=True)
class Names:
    """What the items of one import refer to."""

    by_id: dict[str, str] = field(default_factory=dict)  # as spelled by the caller -> as we spell it
    by_external_id: dict[str, str] = field(default_factory=dict)
    customers: Directory = field(default_factory=Directory)
    products: Directory = field(default_factory=Directory)
    made: list[tuple[str, str, str | None, str]] = field(default_factory=list)  # (id, customer, product, external id)

    def fault(self, item: Named) -> Error | None:
        """(field, code, detail) where the item names no subscription that exists or can be created."""
        if item.subscription_id is not None:
            return None if item.subscription_id in self.by_id else ("subscriptionId", "unknown_id", UNKNOWN_ID)
        if item.subscription_external_id is None:
            return "subscriptionId", "required", "Give subscriptionId or subscriptionExternalId."
        if item.subscription_external_id in self.by_external_id:
            return None
        if item.customer_external_id is None and item.customer_name is None:
            return "customerExternalId", "required", "A new subscription needs its customer's external id or name."
        return None

    def subscription(self, item: Named) -> str:
        """The id of the item's subscription, a new one where it is missing. The item has no fault."""
        if item.subscription_id is not None:
            return self.by_id[item.subscription_id]
        external_id = item.subscription_external_id or ""
        found = self.by_external_id.get(external_id)
        if found is None:
            customer = self.customers.found_or_made(item.customer_external_id, item.customer_name) or ""
            product = self.products.found_or_made(item.product_external_id, item.product_name)
            found = self.by_external_id[external_id] = str(new_id())
            self.made.append((found, customer, product, external_id))
        return found

    def store(self, *, company: Company, stamp: Stamp) -> dict[str, int]:
        """Creates what was missing; returns how many of each kind."""
        audit = f"{nullable(stamp.actor)}\t{nullable(stamp.actor)}\t{stamp.time}\t{stamp.time}"
        audit_columns = "created_user_id, last_updated_user_id, created_time, last_updated_time"
        with connection.cursor() as cursor:
            copy_lines(
                cursor,
                f"ledger_counterparty (company_id, id, type, name, external_id, {audit_columns})",
                (
                    f"{company.id}\t{row_id}\tcustomer\t{nullable(name)}\t{nullable(external_id)}\t{audit}\n"
                    for row_id, name, external_id in self.customers.made
                ),
            )
            copy_lines(
                cursor,
                f'ledger_product (company_id, id, name, name_manually_edited, "order", {audit_columns})',
                (
                    f"{company.id}\t{row_id}\t{nullable(name)}\tf\t0\t{audit}\n"
                    for row_id, name, _ in self.products.made
                ),
            )
            copy_lines(
                cursor,
                "ledger_productexternalid (company_id, id, product_id, external_id)",
                (
                    f"{company.id}\t{new_id()}\t{row_id}\t{nullable(external_id)}\n"
                    for row_id, _, external_id in self.products.made
                    if external_id is not None
                ),
            )
            copy_lines(
                cursor,
                f"ledger_subscription (company_id, id, customer_id, product_id, external_id, {audit_columns})",
                (
                    f"{company.id}\t{row_id}\t{customer}\t{nullable(product)}\t{nullable(external_id)}\t{audit}\n"
                    for row_id, customer, product, external_id in self.made
                ),
            )
        return {
            "customers": len(self.customers.made),
            "products": len(self.products.made),
            "subscriptions": len(self.made),
        }


def copy_lines(cursor: Any, target: str, lines: Iterable[str]) -> None:
    text = "".join(lines)
    if text:
        with cursor.copy(f"COPY {target} FROM STDIN") as copy:
            copy.write(text)


def read_names(*, company: Company, items: Sequence[Named]) -> Names:
    """What the company knows of the items' subscriptions and, for those that it does not know, of the rest."""
    names = Names()
    ids = {item.subscription_id: spelled(item.subscription_id) for item in items if item.subscription_id is not None}
    known = known_subscriptions(company, set(ids.values()))
    names.by_id = {sent: ours for sent, ours in ids.items() if ours in known}
    wanted = {
        item.subscription_external_id
        for item in items
        if item.subscription_id is None and item.subscription_external_id is not None
    }
    if not wanted:
        return names
    rows = Subscription.objects.of(company.id).filter(external_id__in=wanted)
    names.by_external_id = {ext or "": str(row_id) for ext, row_id in rows.values_list("external_id", "id")}
    missing = [
        item
        for item in items
        if item.subscription_id is None and item.subscription_external_id not in names.by_external_id
    ]
    if missing:
        names.customers = known_customers(company, missing)
        names.products = known_products(company, missing)
    return names


def known_subscriptions(company: Company, ids: set[str]) -> set[str]:
    valid = [row_id for row_id in ids if is_id(row_id)]
    if not valid:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id::text FROM ledger_subscription WHERE company_id = %s AND id = ANY(%s::uuid[])",
            [company.id, valid],
        )
        return {row_id for (row_id,) in cursor.fetchall()}


def is_id(text: str) -> bool:
    """Whether it is an id as we print it: ``spelled`` leaves others as they are."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def known_customers(company: Company, items: Sequence[Named]) -> Directory:
    """The company's customers by the external ids, and where an item has none by the names, that the items give."""
    external_ids = {item.customer_external_id for item in items if item.customer_external_id is not None}
    named = {item.customer_name for item in items if item.customer_external_id is None and item.customer_name}
    rows = Counterparty.objects.of(company.id).filter(type=CounterpartyType.CUSTOMER)
    found = Directory()
    if external_ids:
        by_external_id = rows.filter(external_id__in=external_ids).values_list("external_id", "id")
        found.by_external_id = {ext or "": str(row_id) for ext, row_id in by_external_id}
    if named:
        latest_first = rows.filter(name__in=named).order_by("-id").values_list("name", "id")
        found.by_name = {name: str(row_id) for name, row_id in latest_first}  # the oldest of the same name stays
    return found


def known_products(company: Company, items: Sequence[Named]) -> Directory:
    """The company's products by the external ids, and where an item has none by the names, that the items give."""
    external_ids = {item.product_external_id for item in items if item.product_external_id is not None}
    named = {item.product_name for item in items if item.product_external_id is None and item.product_name}
    found = Directory()
    if external_ids:
        rows = ProductExternalId.objects.of(company.id).filter(external_id__in=external_ids)
        found.by_external_id = {ext: str(row_id) for ext, row_id in rows.values_list("external_id", "product_id")}
    if named:
        latest_first = Product.objects.of(company.id).filter(name__in=named).order_by("-id").values_list("name", "id")
        found.by_name = {name: str(row_id) for name, row_id in latest_first}
    return found

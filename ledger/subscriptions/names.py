"""Which subscriptions, customers and products the items of an import name, and those that must be created for them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from django.db import connection

from companies.errors import unknown_at
from companies.models import Company, Stamp, new_id
from companies.names import name_from
from ledger.bulk.bodies import Fault, spelled
from ledger.bulk.copying import copy_lines, nullable

AUDIT = ("created_user_id", "last_updated_user_id", "created_time", "last_updated_time")
PRINTED_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


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
            called = name or name_from(external_id or "")
            self.made.append((found, called, external_id))
            self.by_name.setdefault(called, found)
        return found


@dataclass(slots=True)
class Names:
    """What the items of one import refer to."""

    by_id: dict[str, str] = field(default_factory=dict)  # as spelled by the caller -> as we spell it
    by_external_id: dict[str, str] = field(default_factory=dict)
    customers: Directory = field(default_factory=Directory)
    products: Directory = field(default_factory=Directory)
    made: list[tuple[str, str, str | None, str]] = field(default_factory=list)  # (id, customer, product, external id)

    def fault(self, item: Named) -> Fault | None:
        """(field, code, detail) where the item names no subscription that exists or can be created."""
        if item.subscription_id is not None:
            return None if item.subscription_id in self.by_id else unknown_at("subscriptionId")
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
        own = ("company_id", "id")
        copy_lines(
            "ledger_counterparty",
            (*own, "type", "name", "external_id", *AUDIT),
            (
                f"{company.id}\t{row_id}\tcustomer\t{nullable(name)}\t{nullable(external_id)}\t{audit}\n"
                for row_id, name, external_id in self.customers.made
            ),
        )
        copy_lines(
            "ledger_product",
            (*own, "name", "name_manually_edited", '"order"', *AUDIT),
            (f"{company.id}\t{row_id}\t{nullable(name)}\tf\t0\t{audit}\n" for row_id, name, _ in self.products.made),
        )
        copy_lines(
            "ledger_productexternalid",
            (*own, "product_id", "external_id"),
            (
                f"{company.id}\t{new_id()}\t{row_id}\t{nullable(external_id)}\n"
                for row_id, _, external_id in self.products.made
                if external_id is not None
            ),
        )
        copy_lines(
            "ledger_subscription",
            (*own, "customer_id", "product_id", "external_id", *AUDIT),
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


def read_names(*, company: Company, items: Sequence[Named]) -> Names:
    """What the company knows of the items' subscriptions and, for those that it does not know, of the rest."""
    names = Names()
    sent = {item.subscription_id for item in items if item.subscription_id is not None}
    ids = {each: each if PRINTED_ID.fullmatch(each) else spelled(each) for each in sent}
    known = known_subscriptions(company, set(ids.values()))
    names.by_id = {each: ours for each, ours in ids.items() if ours in known}
    wanted = {
        item.subscription_external_id
        for item in items
        if item.subscription_id is None and item.subscription_external_id is not None
    }
    if not wanted:
        return names
    names.by_external_id = looked_up(_SUBSCRIPTIONS, company, wanted)
    missing = [
        item
        for item in items
        if item.subscription_id is None and item.subscription_external_id not in names.by_external_id
    ]
    if missing:
        names.customers = known_customers(company, missing)
        names.products = known_products(company, missing)
    return names


# Each joins the texts that are asked for, so that the plan suits their number, and answers (text, id).
_SUBSCRIPTIONS = """
    SELECT s.external_id, s.id::text FROM ledger_subscription AS s JOIN unnest(%s::text[]) AS w (text)
        ON w.text = s.external_id WHERE s.company_id = %s
"""
_CUSTOMERS_BY_ID = """
    SELECT c.external_id, c.id::text FROM ledger_counterparty AS c JOIN unnest(%s::text[]) AS w (text)
        ON w.text = c.external_id WHERE c.company_id = %s AND c.type = 'customer'
"""
_CUSTOMERS_BY_NAME = """
    SELECT c.name, c.id::text FROM ledger_counterparty AS c JOIN unnest(%s::text[]) AS w (text)
        ON w.text = c.name WHERE c.company_id = %s AND c.type = 'customer' ORDER BY c.id DESC
"""
_PRODUCTS_BY_ID = """
    SELECT p.external_id, p.product_id::text FROM ledger_productexternalid AS p JOIN unnest(%s::text[]) AS w (text)
        ON w.text = p.external_id WHERE p.company_id = %s
"""
_PRODUCTS_BY_NAME = """
    SELECT p.name, p.id::text FROM ledger_product AS p JOIN unnest(%s::text[]) AS w (text)
        ON w.text = p.name WHERE p.company_id = %s ORDER BY p.id DESC
"""
_KNOWN = """
    SELECT s.id::text, '' FROM ledger_subscription AS s JOIN unnest(%s::uuid[]) AS w (id)
        ON w.id = s.id WHERE s.company_id = %s
"""


def looked_up(statement: str, company: Company, wanted: set[str]) -> dict[str, str]:
    """Text -> id of what the company has; of several of one name the oldest."""
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(statement, [list(wanted), company.id])
        return dict(cursor.fetchall())


def known_subscriptions(company: Company, ids: set[str]) -> set[str]:
    """Those of the ids, as we print them, that are the company's."""
    return set(looked_up(_KNOWN, company, {row_id for row_id in ids if PRINTED_ID.fullmatch(row_id)}))


def known_customers(company: Company, items: Sequence[Named]) -> Directory:
    """The company's customers by the external ids, and where an item has none by the names, that the items give."""
    external_ids = {item.customer_external_id for item in items if item.customer_external_id is not None}
    named = {item.customer_name for item in items if item.customer_external_id is None and item.customer_name}
    return Directory(
        by_external_id=looked_up(_CUSTOMERS_BY_ID, company, external_ids),
        by_name=looked_up(_CUSTOMERS_BY_NAME, company, named),
    )


def known_products(company: Company, items: Sequence[Named]) -> Directory:
    """The company's products by the external ids, and where an item has none by the names, that the items give."""
    external_ids = {item.product_external_id for item in items if item.product_external_id is not None}
    named = {item.product_name for item in items if item.product_external_id is None and item.product_name}
    return Directory(
        by_external_id=looked_up(_PRODUCTS_BY_ID, company, external_ids),
        by_name=looked_up(_PRODUCTS_BY_NAME, company, named),
    )

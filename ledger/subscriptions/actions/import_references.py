"""Which subscriptions, customers and products an import refers to, and which of them must be created."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from django.db import connection
from django.utils.translation import gettext as _

from companies.errors import build_unknown_id_entry
from companies.models import AuditContext, Company, generate_id
from companies.names import build_name
from ledger.bulk.copy import copy_lines, escape_nullable_copy_text
from ledger.bulk.request_bodies import Fault, normalize_id
from ledger.models import Subscription

AUDIT_COLUMNS = ("created_user_id", "last_updated_user_id", "created_time", "last_updated_time")
CANONICAL_UUID_PATTERN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class SubscriptionReference(msgspec.Struct, gc=False, rename="camel", kw_only=True):
    """How an item names its subscription: by our id, or by an external id with what is needed to create it."""

    subscription_id: str | None = None
    subscription_external_id: str | None = None
    customer_external_id: str | None = None
    customer_name: str | None = None
    product_external_id: str | None = None
    product_name: str | None = None


@dataclass(slots=True)
class RecordDirectory:
    """Records of one kind by external id and by name; missing ones get an id here and a row in ``created``."""

    by_external_id: dict[str, str] = field(default_factory=dict)
    by_name: dict[str, str] = field(default_factory=dict)
    created: list[tuple[str, str, str | None]] = field(default_factory=list)  # (id, name, external id)

    def find_id(self, external_id: str | None, name: str | None) -> str | None:
        """Return the id of the named record; None if it is missing or has no name."""
        return self.by_external_id.get(external_id) if external_id is not None else self.by_name.get(name or "")

    def get_or_create_id(self, external_id: str | None, name: str | None) -> str | None:
        """Return the id of the named record, a new one if it is missing; None if the item has no name."""
        if external_id is None and name is None:
            return None
        ids, key = (self.by_name, name) if external_id is None else (self.by_external_id, external_id)
        record_id = ids.get(key)  # type: ignore[arg-type]
        if record_id is None:
            record_id = ids[key] = str(generate_id())  # type: ignore[index]
            record_name = name or build_name(external_id or "")
            self.created.append((record_id, record_name, external_id))
            self.by_name.setdefault(record_name, record_id)
        return record_id


@dataclass(slots=True)
class ImportReferences:
    """The records that the items of one import refer to.

    With ``by_customer`` an item without an id of its subscription means that of its customer and product.
    """

    by_id: dict[str, str] = field(default_factory=dict)  # as spelled by the caller -> as we spell it
    by_external_id: dict[str, str] = field(default_factory=dict)
    customers: RecordDirectory = field(default_factory=RecordDirectory)
    products: RecordDirectory = field(default_factory=RecordDirectory)
    created: list[tuple[str, str, str | None, str | None]] = field(
        default_factory=list
    )  # (id, customer, product, external id)
    by_customer: dict[str, list[tuple[str, str | None]]] | None = None  # customer → (subscription, product)

    def find_error(self, item: SubscriptionReference) -> Fault | None:
        """Return (field, code, detail) if the item names no subscription that exists or can be created."""
        if item.subscription_id is not None:
            return None if item.subscription_id in self.by_id else build_unknown_id_entry("subscriptionId")
        if item.subscription_external_id is None and self.by_customer is not None:
            return self.find_customer_error(item)
        if item.subscription_external_id is None:
            return "subscriptionId", "required", "Send subscriptionId or subscriptionExternalId."
        if item.subscription_external_id in self.by_external_id:
            return None
        if item.customer_external_id is None and item.customer_name is None:
            return "customerExternalId", "required", "A new subscription needs customerExternalId or customerName."
        return None

    def find_customer_error(self, item: SubscriptionReference) -> Fault | None:
        """Return what is wrong if customer and product name several subscriptions."""
        if len(self.list_customer_subscriptions(item)) > 1:
            detail = _("This customer has several subscriptions. Add a column with the subscription ID.")
            return "subscriptionExternalId", "ambiguous", detail
        return None

    def list_customer_subscriptions(self, item: SubscriptionReference) -> list[str]:
        """Return the subscriptions of the item's customer and product; of all products if it names none."""
        customer_id = self.customers.find_id(item.customer_external_id, item.customer_name)
        subscriptions = (self.by_customer or {}).get(customer_id or "", [])
        if item.product_external_id is None and item.product_name is None:
            return [subscription_id for subscription_id, _ in subscriptions]
        product_id = self.products.find_id(item.product_external_id, item.product_name)
        return [subscription_id for subscription_id, own_id in subscriptions if product_id and own_id == product_id]

    def find_subscription_id(self, item: SubscriptionReference) -> str | None:
        """Return the id of the item's subscription; None if it is missing."""
        if item.subscription_id is not None:
            return self.by_id[item.subscription_id]
        if item.subscription_external_id is None:
            return next(iter(self.list_customer_subscriptions(item)), None)
        return self.by_external_id.get(item.subscription_external_id)

    def get_or_create_subscription_id(self, item: SubscriptionReference) -> str:
        """Return the id of the item's subscription, a new one if it is missing. The item must have no error."""
        subscription_id = self.find_subscription_id(item)
        if subscription_id is None:
            customer_id = self.customers.get_or_create_id(item.customer_external_id, item.customer_name) or ""
            product_id = self.products.get_or_create_id(item.product_external_id, item.product_name)
            subscription_id = str(generate_id())
            self.created.append((subscription_id, customer_id, product_id, item.subscription_external_id))
            if item.subscription_external_id is not None:
                self.by_external_id[item.subscription_external_id] = subscription_id
            if self.by_customer is not None:
                self.by_customer.setdefault(customer_id, []).append((subscription_id, product_id))
        return subscription_id

    def create_missing(self, *, company: Company, context: AuditContext) -> dict[str, int]:
        """Create the missing records; return how many of each kind."""
        actor = escape_nullable_copy_text(context.actor)
        audit = f"{actor}\t{actor}\t{context.time}\t{context.time}"
        key_columns = ("company_id", "id")
        copy_lines(
            "ledger_counterparty",
            (*key_columns, "type", "name", "external_id", *AUDIT_COLUMNS),
            (
                f"{company.id}\t{row_id}\tcustomer\t{escape_nullable_copy_text(name)}\t{escape_nullable_copy_text(external_id)}\t{audit}\n"
                for row_id, name, external_id in self.customers.created
            ),
        )
        copy_lines(
            "ledger_product",
            (*key_columns, "name", "name_manually_edited", '"order"', *AUDIT_COLUMNS),
            (
                f"{company.id}\t{row_id}\t{escape_nullable_copy_text(name)}\tf\t0\t{audit}\n"
                for row_id, name, _ in self.products.created
            ),
        )
        copy_lines(
            "ledger_productexternalid",
            (*key_columns, "product_id", "external_id"),
            (
                f"{company.id}\t{generate_id()}\t{row_id}\t{escape_nullable_copy_text(external_id)}\n"
                for row_id, _, external_id in self.products.created
                if external_id is not None
            ),
        )
        copy_lines(
            "ledger_subscription",
            (*key_columns, "customer_id", "product_id", "external_id", *AUDIT_COLUMNS),
            (
                f"{company.id}\t{row_id}\t{customer}\t{escape_nullable_copy_text(product)}\t{escape_nullable_copy_text(external_id)}\t{audit}\n"
                for row_id, customer, product, external_id in self.created
            ),
        )
        return {
            "customers": len(self.customers.created),
            "products": len(self.products.created),
            "subscriptions": len(self.created),
        }


def load_import_references(
    *, company: Company, items: Sequence[SubscriptionReference], finds_by_customer: bool = False
) -> ImportReferences:
    """Return the known subscriptions of the items and, for missing ones, the known customers and products.

    Args:
        finds_by_customer: find subscriptions of items without an id of one by customer and product.
    """
    references = ImportReferences(by_customer={} if finds_by_customer else None)
    sent_ids = {item.subscription_id for item in items if item.subscription_id is not None}
    own_id_by_sent_id = {
        sent_id: sent_id if CANONICAL_UUID_PATTERN.fullmatch(sent_id) else normalize_id(sent_id) for sent_id in sent_ids
    }
    known_ids = find_known_subscription_ids(company, set(own_id_by_sent_id.values()))
    references.by_id = {sent_id: own_id for sent_id, own_id in own_id_by_sent_id.items() if own_id in known_ids}
    external_ids = {
        item.subscription_external_id
        for item in items
        if item.subscription_id is None and item.subscription_external_id is not None
    }
    if not external_ids and not finds_by_customer:
        return references
    references.by_external_id = fetch_ids_by_text(_SUBSCRIPTIONS, company, external_ids)
    missing = [
        item
        for item in items
        if item.subscription_id is None and item.subscription_external_id not in references.by_external_id
    ]
    if missing:
        references.customers = load_customer_directory(company, missing)
        references.products = load_product_directory(company, missing)
    if finds_by_customer:
        references.by_customer = load_subscriptions_by_customer(company, references.customers)
    return references


def load_subscriptions_by_customer(
    company: Company, customers: RecordDirectory
) -> dict[str, list[tuple[str, str | None]]]:
    """Return (subscription, product) of each of the customers."""
    customer_ids = {*customers.by_external_id.values(), *customers.by_name.values()}
    rows = Subscription.objects.for_company(company.id).filter(customer__in=customer_ids).order_by("id")
    subscriptions: dict[str, list[tuple[str, str | None]]] = {}
    for subscription_id, customer_id, product_id in rows.values_list("id", "customer_id", "product_id"):
        subscriptions.setdefault(str(customer_id), []).append(
            (str(subscription_id), str(product_id) if product_id else None)
        )
    return subscriptions


# Each joins the requested texts, so that the plan suits their number, and returns (text, id).
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


def fetch_ids_by_text(statement: str, company: Company, texts: set[str]) -> dict[str, str]:
    """Return the ids by text; of several records with one name the oldest."""
    if not texts:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(statement, [list(texts), company.id])
        return dict(cursor.fetchall())


def find_known_subscription_ids(company: Company, ids: set[str]) -> set[str]:
    """Return those of the canonical ids that belong to the company."""
    return set(
        fetch_ids_by_text(_KNOWN, company, {row_id for row_id in ids if CANONICAL_UUID_PATTERN.fullmatch(row_id)})
    )


def load_customer_directory(company: Company, items: Sequence[SubscriptionReference]) -> RecordDirectory:
    """Return customers by external id and, for items without one, by name."""
    external_ids = {item.customer_external_id for item in items if item.customer_external_id is not None}
    names = {item.customer_name for item in items if item.customer_external_id is None and item.customer_name}
    return RecordDirectory(
        by_external_id=fetch_ids_by_text(_CUSTOMERS_BY_ID, company, external_ids),
        by_name=fetch_ids_by_text(_CUSTOMERS_BY_NAME, company, names),
    )


def load_product_directory(company: Company, items: Sequence[SubscriptionReference]) -> RecordDirectory:
    """Return products by external id and, for items without one, by name."""
    external_ids = {item.product_external_id for item in items if item.product_external_id is not None}
    names = {item.product_name for item in items if item.product_external_id is None and item.product_name}
    return RecordDirectory(
        by_external_id=fetch_ids_by_text(_PRODUCTS_BY_ID, company, external_ids),
        by_name=fetch_ids_by_text(_PRODUCTS_BY_NAME, company, names),
    )

"""Products and subscriptions of the demo company."""

from datetime import date, timedelta
from operator import itemgetter

from demo.books import DemoBooks
from demo.story import read_rows, resolve_day
from ledger.bulk.request_bodies import BulkRequest
from ledger.models import ProductGroup
from ledger.subscriptions.actions import product_groups, products
from ledger.subscriptions.actions.subscription_event_import import EventImportItem, import_subscription_events


def create_demo_subscriptions(*, books: DemoBooks) -> None:
    """Create products in groups, and import the subscription events committed by today.

    A customer that changes the product ends the subscription of the former one on that day.
    """
    groups: dict[str, ProductGroup] = {}
    for order, row in enumerate(read_rows("products")):
        name = row["group"]
        if name not in groups:
            values = {"name": name, "order": order}
            groups[name] = product_groups.create_product_group(**books.scope, values=values)
        values = {
            "name": row["name"],
            "product_group_id": groups[name].id,
            "order": order,
            "external_ids": [row["key"]],
        }
        products.create_product(**books.scope, values={**values, "external_ids": [row["key"]]})
    events = [(row, resolve_day(row, books.today)) for row in read_rows("subscription_events")]
    items, products_by_customer = [], dict[str, str]()
    for row, day in sorted(events, key=itemgetter(1)):
        if day - timedelta(days=int(row["notice"])) > books.today:
            continue
        former_product = products_by_customer.get(row["customer"], row["product"])
        if former_product != row["product"]:
            items.append(build_event(row | {"product": former_product, "amount": "0"}, day))
        items.append(build_event(row, day))
        products_by_customer[row["customer"]] = row["product"]
    import_subscription_events(**books.scope, request=BulkRequest(items=[*items]))


def build_event(row: dict[str, str], day: date) -> EventImportItem:
    """Return the event of a row of the data as an import takes it."""
    return EventImportItem(
        subscription_external_id=f"{row['customer']}_{row['product']}",
        customer_external_id=row["customer"],
        customer_name=row["name"],
        product_external_id=row["product"],
        effective_date=day,
        committed_date=day - timedelta(days=int(row["notice"])),
        amount_value=row["amount"],
        amount_currency=row["currency"],
        interval=row["interval"],
    )

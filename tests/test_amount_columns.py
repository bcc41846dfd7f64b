"""Columns of amounts: the database takes numbers alone."""

import pytest
from django.db import IntegrityError, connection, transaction

from ledger.models import SubscriptionEvent, Transaction
from planning.models import PlanItem, PlannedTransaction, Settlement
from tests import factories
from tests.assistants.sample_company import SampleCompany, format_day
from tests.row_factory import list_company_models

pytestmark = pytest.mark.django_db
MONEY = {
    Transaction: "transaction_amount_a_number",
    SubscriptionEvent: "subscription_event_amount_a_number",
    PlannedTransaction: "planned_amount_a_number",
    PlanItem: "plan_item_amount_a_number",
    Settlement: "settlement_amount_a_number",
}


@pytest.fixture
def fill_company(api, acme):
    books = SampleCompany(api)
    amount = {"type": "fixed", "amount": {"value": 5, "currency": "EUR"}}
    books.create_row(
        "plan_items", {"month": format_day(0)[:7], "plType": "ga", "categoryId": books.office, "amount": amount}
    )
    body = {"accountId": books.bank, "name": "Rent", "startDate": format_day(0), "amountValue": "-5.00"}
    planned = books.create_row("planned_transactions", body)
    write_off = {"date": format_day(0), "reason": "Waived"}
    assert api.post(f"planned_transactions/{planned}/write_off", write_off).status_code == 200
    subscription = books.create_row(
        "subscriptions", {"customerId": str(factories.make_customer(acme).id), "externalId": "one"}
    )
    books.create_row(
        "subscription_events",
        {
            "subscriptionId": subscription,
            "effectiveDate": format_day(0),
            "amountValue": "10.00",
            "amountCurrency": "EUR",
        },
    )


def test_every_model_with_amount_value_is_covered():
    results = {
        each for each in list_company_models() for field in each._meta.concrete_fields if field.name == "amount_value"
    }
    assert {each for each in results if not each._meta.get_field("amount_value").null} == set(MONEY)


@pytest.mark.parametrize("model", MONEY, ids=lambda model: model.__name__)
def test_amount_columns_accept_numbers_only(fill_company, model):
    assert model.objects.exists()
    with connection.cursor() as cursor, pytest.raises(IntegrityError, match=MONEY[model]), transaction.atomic():
        cursor.execute(f"UPDATE {model._meta.db_table} SET amount_value = 'NaN'")

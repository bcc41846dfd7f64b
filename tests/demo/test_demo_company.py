"""The demonstration company: believable, complete, and the same for the same day."""

import io
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.hashers import make_password
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db.models import Count, Sum

from analytics.calc.time_series import list_bucket_starts
from analytics.charts.chart_data import ChartData
from analytics.queries import balances, recurring_revenue
from analytics.queries.billed_and_received import compare_billed_and_received
from analytics.queries.cash_bridge import compute_cash_bridge
from analytics.report_period import parse_report_period
from companies.models import AuditContext, Company, Membership, User
from demo.actions import create_demo_company
from demo.bank_statements import SAMPLE_STATEMENT_NAME
from demo.members import OWNER
from demo.story import read_rows
from ledger.accounts.queries import sum_account_balances
from ledger.bank_statements.actions.statements import import_statement
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.models import Account, Categorization, Category, Counterparty, File, Product, SubscriptionEvent, Transaction
from ledger.money.rates import get_rate_table
from ledger.transactions.queries.cash_parts import CashPart
from notifications.models import Notification
from planning.invoices.serializers import INVOICE_STATES
from planning.models import PlanItem, PlannedOverride, PlannedTransaction, Settlement
from tests.conftest import Api
from tests.response_validation import list_operations

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 9, 18, 10, tzinfo=UTC)
TODAY = NOW.date()
MAX_CUSTOMERS_APART = 4  # two of them paid in another month than the one billed for
MISMATCH_FIELD = "balanceMismatchSince"


def create_demo(**options):
    output = io.StringIO()
    call_command("demo", json=True, stdout=output, **options)
    return json.loads(output.getvalue())


@pytest.fixture(scope="module")
def company(make_demo_company):
    with make_demo_company(name="Demo", months=24, now=NOW) as shown:
        yield Company.objects.get(id=shown.company_id)


# ---------------------------------------------------------------------------------------------- the command


def forget_demo_password():
    """Leave the demo user without a password, as before the first demo company."""
    User.objects.filter(email=OWNER[0]).update(password=make_password(None))


def test_demo_command_returns_working_credentials():
    forget_demo_password()
    demo = create_demo(name="Mine", months=2, transactions=100, seed=7)
    assert set(demo) == {"companyId", "email", "password", "apiKey"}
    company = Company.objects.get(id=demo["companyId"])
    assert company.name == "Mine"
    assert User.objects.get(email=demo["email"]).check_password(demo["password"])
    (row,) = Api(company, key=demo["apiKey"]).get("/companies").json()  # a key reaches one company
    assert (row["id"], row["role"]) == (demo["companyId"], "apiKey")
    assert "company:manage" in row["permissions"]


def test_demo_company_answers_match_openapi_document(company, make_api):
    """The fixture `check_responses_match_document` validates each response."""
    caller = make_api(company)
    paths = [path for (method, path) in list_operations() if method == "GET" and path.startswith("/companies/{}")]
    lists = [path.removeprefix("/companies/{}/") for path in paths if path.count("{}") == 1 and path != "/companies/{}"]
    answered = {path: caller.get(path) for path in lists}
    assert {path for path, answer in answered.items() if answer.status_code != 200} == {"planned_transactions/due"}
    for path, answer in answered.items():
        rows = answer.json() if answer["Content-Type"] == "application/json" and answer.status_code == 200 else []
        if f"/companies/{{}}/{path}/{{}}" in paths:
            assert all(caller.get(f"{path}/{row['id']}").status_code == 200 for row in rows[:5])
    (rent,) = (file for file in answered["files"].json() if file["parseStatus"] == "matched")
    assert rent["parseData"]["amount"]["currency"] == "EUR"
    assert any(account["bankConnection"] for account in answered["accounts"].json())


def test_second_demo_company_is_created_next_to_the_first():
    forget_demo_password()
    one, other = create_demo(months=1, transactions=50), create_demo(months=1, transactions=50, name="Other")
    assert one["companyId"] != other["companyId"]
    ids = Membership.objects.filter(user__email=one["email"]).values_list("company_id", flat=True)
    assert {one["companyId"], other["companyId"]} <= {str(each) for each in ids}


def test_second_demo_company_keeps_the_password():
    forget_demo_password()
    one = create_demo(months=1, transactions=20)
    output = io.StringIO()
    call_command("demo", months=1, transactions=20, stdout=output)
    assert "password   unchanged" in output.getvalue()
    assert create_demo(months=1, transactions=20)["password"] is None
    assert User.objects.get(email=one["email"]).check_password(one["password"])


@pytest.mark.parametrize(("months", "count"), [(1, 0), (1, 10), (3, 300), (36, 200), (2, 1500)])
def test_demo_has_requested_number_of_transactions(months, count):
    company = create_demo(months=months, transactions=count)["companyId"]
    rows = Transaction.objects.for_company(company)
    booked = rows.exclude(source="initialBalance")
    assert rows.count() == max(count, rows.count() - booked.count())  # opening balances are never left out
    first = add_months(get_first_day_of_month(datetime.now(tz=UTC).date()), 1 - months)
    assert not booked.filter(date__lt=first).exists()


@pytest.mark.parametrize("options", [{"months": 0}, {"months": 37}, {"transactions": -1}])
def test_demo_command_rejects_invalid_options(options):
    with pytest.raises(CommandError):
        create_demo(name="Nonsense", **options)
    assert not Company.objects.filter(name="Nonsense").exists()


def describe_demo(company_id):
    """What two demonstrations of one day have in common."""
    rows = Transaction.objects.for_company(company_id).order_by("date", "amount_value", "description", "from_to")
    events = SubscriptionEvent.objects.for_company(company_id).order_by(
        "effective_date", "amount_value", "committed_date"
    )
    return (
        list(
            rows.values_list("date", "amount_value", "amount_currency", "from_to", "description", "categorized_value")
        ),
        list(events.values_list("effective_date", "committed_date", "amount_value", "amount_currency", "interval")),
        list(PlannedTransaction.objects.for_company(company_id).order_by("name").values_list("name", "amount_value")),
    )


def test_demo_reserve_account_has_mismatch_even_without_transfers():
    """Of few transactions none may have gone there: it holds nothing, and its bank says otherwise."""
    shown = create_demo_company(name="x", months=3, count=100, now=datetime(2026, 11, 23, 19, tzinfo=UTC))
    reserve = Account.objects.for_company(Company.objects.get(id=shown.company_id).id).get(name="Northbank reserve")
    assert reserve.bank_connection[MISMATCH_FIELD] is not None


def test_demo_is_reproducible_by_day_except_secrets():
    one, two, other = (create_demo_company(name="x", months=2, now=NOW + timedelta(days=days)) for days in (0, 0, 1))
    assert describe_demo(one.company_id) == describe_demo(two.company_id)
    assert describe_demo(one.company_id) != describe_demo(other.company_id)
    assert one.api_key != two.api_key
    assert two.password is None


def test_demo_derived_tables_are_exact():
    company = create_demo(months=6)["companyId"]
    call_command("rebuild_derived", check=True, company=company, stdout=io.StringIO())


# ---------------------------------------------------------------------------------------------- what there is


def test_demo_has_members_of_every_role(company):
    roles = Membership.objects.for_company(company.id).values_list("role", flat=True)
    assert sorted(roles) == ["admin", "editor", "owner", "viewer"]


def test_demo_has_accounts_of_many_types_and_three_currencies(company):
    rows = Account.objects.for_company(company.id)
    assert set(rows.values_list("type", flat=True)) == {"bank", "cash", "creditCard", "loan", "transit"}
    assert set(rows.values_list("default_currency", flat=True)) == {"EUR", "USD", "GBP"}
    assert [row.name for row in rows.filter(archived=True)] == ["Former house bank"]
    assert not rows.filter(account_group=None).exists()


def test_demo_transactions_are_nearly_all_categorized(company):
    rows = Transaction.objects.for_company(company.id).exclude(source="initialBalance")
    assert 0 < rows.open().count() < 0.01 * rows.count()
    assert rows.filter(pending=True).count() == 3


def test_demo_has_invoices_with_tax_and_yearly_contracts(company):
    parts = Categorization.objects.for_company(company.id)
    assert parts.filter(pass_through_tax__gt=0).count() > 20
    yearly = parts.filter(rule="servicePeriod", category__system_key="revenueRecurring")
    assert yearly.count() > 5
    for part in yearly:
        assert add_months(part.computed_start_date, 12) == part.computed_end_date + timedelta(days=1)


def test_demo_transfers_are_linked_and_some_use_transit_accounts(company):
    linked = Categorization.objects.for_company(company.id).linked()
    kinds = Counter(linked.values_list("link_kind", flat=True))
    assert kinds["transfer"] > 20
    assert kinds["transit"] > 20
    assert not Transaction.objects.for_company(company.id).filter(from_to="Own account", categorized_value=0).exists()


def test_demo_loan_is_paid_out_and_repaid_with_decreasing_interest(company):
    (loan,) = Account.objects.for_company(company.id).filter(type="loan")
    payout, *instalments = Transaction.objects.for_company(company.id).filter(account=loan).order_by("date")
    assert payout.date == add_months(get_first_day_of_month(TODAY), -8).replace(day=15)
    assert payout.amount_value < 0
    assert [each.date for each in instalments] == [add_months(payout.date, place) for place in range(1, 9)]
    assert {each.amount_value for each in instalments} == {-payout.amount_value / 60}
    legs = [payout, *instalments]
    assert (
        Categorization.objects.for_company(company.id).filter(transaction__in=legs, counter__isnull=False).count() == 9
    )
    days = (payout.date, TODAY)
    owed = [balances.sum_account_balances(company_id=company.id, day=day)[loan.id]["EUR"] for day in days]
    assert owed[0] < owed[1] < 0
    paid = Transaction.objects.for_company(company.id).filter(description__startswith="Loan interest").order_by("date")
    amounts = list(paid.values_list("amount_value", flat=True))
    assert len(amounts) == 8
    assert amounts == sorted(amounts)
    assert amounts[0] < amounts[-1] < 0


def test_demo_cash_bridge_shows_loan_and_investors_as_financing(company):
    start = add_months(get_first_day_of_month(TODAY), -9)
    bridge = compute_cash_bridge(company=company, start=start, end=TODAY, today=TODAY, rates=get_rate_table())
    legs = Transaction.objects.for_company(company.id).filter(account__type="loan")
    assert bridge.parts[CashPart.FINANCING] == -sum(legs.values_list("amount_value", flat=True)) > 0
    assert not Category.objects.for_company(company.id).filter(financing=True, system=False).exists()


def test_demo_payroll_tax_is_split_over_four_categorizations(company):
    split = (
        Transaction.objects.for_company(company.id).filter(description__startswith="Payroll tax").order_by("id").first()
    )
    assert Categorization.objects.for_company(company.id).filter(transaction=split).count() == 4


def test_demo_cash_accounts_are_never_below_zero(company):
    days = list_bucket_starts(TODAY - timedelta(days=700), TODAY, "week")
    cash = Account.objects.for_company(company.id).cash().values_list("id", "name")
    for day in days:
        held = sum_account_balances(company_id=company.id, day=day)
        for account, name in cash:
            assert all(amount >= 0 for amount in held.get(account, {}).values()), (day, name)


def test_demo_payments_close_with_what_is_billed(company):
    last = add_months(get_first_day_of_month(TODAY), -1)  # of the current month some payments are open or pending
    months = [add_months(last, -offset) for offset in reversed(range(6))]
    figures = compare_billed_and_received(company=company, months=months, today=TODAY, rates=get_rate_table())
    invoiced = {row["party"] for row in read_rows("invoices")}
    apart = {
        each.name
        for each in figures.customers
        if each.name not in invoiced and abs(each.total.difference) > Decimal("0.05") * each.total.billed
    }
    assert {"Meadow Events", "Marble Commerce"} <= apart  # their payments include value-added tax
    assert len(apart) <= MAX_CUSTOMERS_APART


def test_demo_recurring_revenue_has_every_kind_of_movement(company):
    rows = recurring_revenue.compute_monthly_data(
        company=company,
        mrr_type="cmrr",
        first=add_months(get_first_day_of_month(TODAY), -23),
        last=get_first_day_of_month(TODAY),
    )
    assert rows[-1].end > Decimal("1.5") * rows[0].start > 0
    for name in ("new", "reactivate", "upgrade"):
        assert sum(getattr(row, name) for row in rows) > 0, name
    for name in ("downgrade", "cancel"):
        assert sum(getattr(row, name) for row in rows) < 0, name
    assert all(row.cancel > -row.start / 10 for row in rows)


def test_demo_has_committed_events_that_take_effect_later(company):
    events = SubscriptionEvent.objects.for_company(company.id)
    assert events.filter(effective_date__gt=TODAY, committed_date__lte=TODAY).exists()
    assert not events.filter(committed_date__gt=TODAY).exists()
    assert set(events.values_list("amount_currency", flat=True)) == {"EUR", "USD", "GBP"}
    assert Product.objects.for_company(company.id).exclude(product_group=None).count() == 5


def test_demo_company_metrics_are_computed(company):
    assert company.computed_committed_mrr_eur > 0
    assert company.computed_active_customer_count > 10
    assert company.computed_metrics_time == NOW


def test_demo_salaries_are_planned_on_last_day_with_one_changed_amount(company):
    planned = {row.name: row for row in PlannedTransaction.objects.for_company(company.id)}
    wages = planned["Salaries"]
    assert (wages.frequency, wages.last_day_of_month) == ("month", True)
    assert {planned[name].frequency for name in ("Office rent", "Hosting")} == {"month"}
    assert planned["Corporate tax, prepayment"].interval == 3
    overrides = PlannedOverride.objects.for_company(company.id)
    assert overrides.filter(skipped=True).count() == 1
    assert overrides.filter(amount_value__isnull=False).count() == 1
    settled = Settlement.objects.for_company(company.id).filter(transaction__isnull=False)
    assert "Office rent" in settled.values_list("planned__name", flat=True)
    assert settled.count() > 1


def test_demo_plan_has_all_three_amount_types_for_two_years(company):
    items = PlanItem.objects.for_company(company.id)
    assert set(items.values_list("amount_type", flat=True)) == {"fixed", "changeByAmount", "relative"}
    assert set(items.values_list("month__year", flat=True)) == {2026, 2027}


def test_demo_plan_is_close_to_actuals(company):
    """A forecast that jumps at today would be believed by nobody."""
    result = ChartData(company=company, period=parse_report_period({"months": "6"}, today=TODAY)).flows
    last_whole = result.actual.points.index(add_months(get_first_day_of_month(TODAY), -1))
    for actual, planned in (
        (result.actual.outflow, result.planned.outflow),
        (result.actual.inflow, result.planned.inflow),
    ):
        past = sum(actual[last_whole - 2 : last_whole + 1]) / 3
        ahead = sum(planned[last_whole + 2 : last_whole + 5]) / 3
        assert Decimal("0.6") < ahead / past < Decimal("1.6")


def test_demo_has_files_counterparties_and_notifications(company):
    assert sorted(File.objects.for_company(company.id).values_list("parse_status", flat=True)) == [
        "matched",
        "open",
        "open",
        "parsed",
    ]
    kinds = dict(Counterparty.objects.for_company(company.id).values_list("type").annotate(Count("id")))
    assert kinds["customer"] > 20
    assert kinds["vendor"] > 8
    assert kinds["authority"] >= 2
    notification_types = set(Notification.objects.for_company(company.id).values_list("type", flat=True))
    assert {"import.finished", "apiKey.created", "member.joined", "balance.mismatch"} <= notification_types


def test_demo_has_invoices_in_all_states_and_an_electronic_one(company, make_api):
    api = make_api(company)
    states = {
        kind: {state for state in INVOICE_STATES if api.get(kind, {"state": state, "asOf": str(TODAY)}).json()}
        for kind in ("receivables", "payables")
    }
    assert states["receivables"] == set(INVOICE_STATES)
    assert states["payables"] >= {"open", "overdue", "partlyPaid", "paid"}
    aging = api.post("data/aging", {"kind": "receivables", "asOf": str(TODAY)}).json()
    assert all(aging["buckets"])
    assert aging["current"] > 0
    assert any(row["name"] == "Paperwise GmbH PW-4711" for row in api.get("payables").json())


def test_demo_has_one_balance_mismatch_and_a_sample_statement_to_import():
    company = Company.objects.get(id=create_demo(months=1, transactions=50)["companyId"])
    wrong = [
        each.name
        for each in Account.objects.for_company(company.id)
        if (each.bank_connection or {}).get(MISMATCH_FIELD)
    ]
    assert wrong == ["Northbank reserve"]
    paper = File.objects.for_company(company.id).get(filename=SAMPLE_STATEMENT_NAME)
    audit_context = AuditContext(time=datetime.now(tz=UTC))
    content = default_storage.open(paper.storage_path).read()
    tried = import_statement(
        company=company,
        context=audit_context,
        content=content,
        filename=SAMPLE_STATEMENT_NAME,
        account=None,
        dry_run=True,
    )
    (answer,) = tried.statements
    assert (answer.account.name, tried.count, answer.ledger_difference) == ("Northbank current account", 5, 0)


def test_demo_expenses_are_those_of_a_software_company(company):
    parts = Categorization.objects.for_company(company.id).filter(counter=None)
    sums = {
        line: abs(parts.aggregate(total=Sum(line))["total"] or 0) for line in ("revenue", "cogs", "cac", "pd", "ga")
    }
    assert sums["pd"] > sums["cac"] > sums["cogs"] > 0
    assert Decimal("0.8") < sum(sums[line] for line in ("cogs", "cac", "pd", "ga")) / sums["revenue"] < Decimal("2")

"""Create and fill the demo company."""

from dataclasses import astuple, dataclass
from datetime import datetime

from analytics.queries import company_metrics, recurring_revenue
from companies.actions.companies import create_company
from companies.auth import api_keys
from companies.maintenance.progress_bar import ProgressCallback, ignore_progress
from companies.models import AuditContext, Company, SystemStatus
from companies.permissions import ALL_PERMISSIONS
from companies.time_zones import get_today
from demo import accounts, bank_statements, files, invoices, members, plans, rules, subscriptions, transactions
from demo.books import DemoBooks
from demo.story import MAX_MONTHS, build_story
from ledger.money.rates import get_rate_table

BASE_CURRENCY = "EUR"


@dataclass(frozen=True, slots=True)
class DemoAccess:
    """The credentials of a demo company."""

    company_id: str
    email: str
    password: str | None  # None if the user existed and keeps their own
    api_key: str

    def to_dict(self) -> dict[str, str | None]:
        names = ("companyId", "email", "password", "apiKey")
        return dict(zip(names, astuple(self), strict=True))


def create_demo_company(
    *, name: str, now: datetime, months: int = MAX_MONTHS, count: int | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> DemoAccess:  # fmt: skip
    """Create a demo company with members, an owner-level API key, and the story of the last months up to now.

    There are `count` transactions with the opening balances, or those of the story. The same day produces the same
    figures; only secrets differ.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    report_progress("Creating the company", 0.0)
    context = AuditContext(time=now)
    owner, password = members.prepare_demo_owner()
    company, _ = create_company(
        name=name, base_currency=BASE_CURRENCY, owner=owner, context=context, status=SystemStatus.FREE,
        demonstration={"months": months, "transactions": count},
    )  # fmt: skip
    members.add_demo_members(company=company, context=context)
    api_key = api_keys.create_api_key(
        company=company, context=context, name="Demo", permissions=ALL_PERMISSIONS, creator=None
    )
    fill_demo_company(company=company, context=context, months=months, count=count, report_progress=report_progress)
    return DemoAccess(company_id=str(company.id), email=owner.email, password=password, api_key=api_key.text)


def fill_demo_company(
    *,
    company: Company,
    context: AuditContext,
    months: int,
    count: int | None,
    report_progress: ProgressCallback = ignore_progress,
) -> None:
    """Fill an empty company with the story up to the day of `context`.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    books = DemoBooks(company=company, context=context, today=get_today(company, context.time))
    story = build_story(today=books.today, months=months, count=count, rates=get_rate_table())
    accounts.create_demo_accounts(books=books, story=story)
    subscriptions.create_demo_subscriptions(books=books)
    transactions.create_demo_counterparties(books=books)
    transactions.store_movements(books=books, movements=story.movements, report_progress=report_progress)
    accounts.archive_former_account(books=books)
    rules.create_demo_rules(books=books)
    report_progress("Planning", 0.95)
    invoices.create_demo_invoices(books=books)  # before other plans are matched with payments of invoices
    plans.plan_payments(books=books)
    plans.create_plan_items(books=books)
    files.create_demo_files(books=books)
    bank_statements.import_demo_statements(books=books)
    recurring_revenue.refresh_recurring_revenue(company)
    company_metrics.store_company_metrics(company=company, context=context)
    Company.objects.touch(company.id, context.time)

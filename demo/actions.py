"""Create and fill the demo company."""

import random
import secrets
from dataclasses import dataclass
from datetime import datetime

from analytics.queries import company_metrics, recurring_revenue
from companies.actions.companies import create_company
from companies.auth import api_keys
from companies.maintenance.progress_bar import ProgressCallback, ignore_progress
from companies.models import AuditContext, Company, SystemStatus
from companies.permissions import ALL_PERMISSIONS
from companies.time_zones import get_today
from demo import accounts, bank_statements, files, members, rules, subscriptions
from demo.invoices import InvoiceWriter
from demo.plans import PlanWriter
from demo.scenario.scenario import build_scenario
from demo.transactions import TransactionWriter
from ledger.money.rates import get_rate_table

BASE_CURRENCY = "EUR"


@dataclass(frozen=True, slots=True)
class DemoAccess:
    """The credentials of a demo company."""

    company_id: str
    email: str
    password: str
    api_key: str

    def to_dict(self) -> dict[str, str]:
        return {
            "companyId": self.company_id,
            "email": self.email,
            "password": self.password,
            "apiKey": self.api_key,
        }


def create_demo_company(
    *, name: str, months: int, transactions: int, seed: int, now: datetime, tell: ProgressCallback = ignore_progress
) -> DemoAccess:
    """Create a demo company with members, an owner-level API key, past transactions and plans.

    There are `transactions` movements over the months up to now, besides initial balances. The same seed and
    day produce the same figures; only secrets differ.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    tell("Founding the company", 0.0)
    recipe = {"months": months, "transactions": transactions, "seed": seed}
    context = AuditContext(time=now)
    password = secrets.token_urlsafe(12)
    owner = members.prepare_demo_owner(password)
    company, _ = create_company(
        name=name,
        base_currency=BASE_CURRENCY,
        owner=owner,
        context=context,
        status=SystemStatus.FREE,
        demonstration=recipe,
    )
    members.add_demo_members(company=company, context=context)
    api_key = api_keys.create_api_key(
        company=company, context=context, name="Demo", permissions=ALL_PERMISSIONS, creator=None
    )
    fill_demo_company(company=company, context=context, tell=tell, **recipe)
    return DemoAccess(company_id=str(company.id), email=owner.email, password=password, api_key=api_key.text)


def fill_demo_company(
    *,
    company: Company,
    context: AuditContext,
    months: int,
    transactions: int,
    seed: int,
    tell: ProgressCallback = ignore_progress,
) -> None:
    """Fill an empty company with transactions and plans up to the day of `context`.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    random_source = random.Random(seed)  # noqa: S311 - figures to look at, not secrets
    scenario = build_scenario(
        months=months,
        count=transactions,
        today=get_today(company, context.time),
        random_source=random_source,
        rates=get_rate_table(),
    )
    demo_accounts = accounts.create_demo_accounts(
        company=company, context=context, opening=scenario.opening, first=scenario.months[0]
    )
    subscriptions.create_demo_subscriptions(
        company=company, context=context, customers=scenario.customers, today=get_today(company, context.time)
    )
    writer = TransactionWriter(company=company, context=context, accounts=demo_accounts, tell=tell)
    writer.store_movements(scenario.movements)
    accounts.archive_former_account(accounts_by_key=demo_accounts, context=context)
    rules.create_demo_rules(company=company, context=context, categories=writer.categories)
    tell("Planning", 0.95)
    plan_writer = PlanWriter(
        company=company, context=context, accounts=demo_accounts, categories=writer.categories, story=scenario
    )
    plan_writer.plan_payments()
    plan_writer.create_plan_items()
    files.create_demo_files(company=company, context=context)
    InvoiceWriter(
        company=company,
        context=context,
        account=demo_accounts["main"],
        categories=writer.categories,
        monthly_revenue=scenario.recurring[-1],
    ).create_invoices()
    bank_statements.import_demo_statements(company=company, context=context, accounts=demo_accounts)
    recurring_revenue.refresh_recurring_revenue(company)
    company_metrics.store_company_metrics(company=company, context=context)
    Company.objects.touch(company.id, context.time)

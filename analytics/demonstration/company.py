"""Founds the demonstration company and fills it."""

import random
import secrets
from dataclasses import dataclass
from datetime import datetime

from analytics.demonstration import accounts, papers, people, sorting, statements, subscriptions
from analytics.demonstration.books import Books
from analytics.demonstration.plans import Plans
from analytics.demonstration.story.plot import told
from analytics.queries import metrics, recurring
from companies.callers import api_keys
from companies.membership.founding import found_company
from companies.models import Company, Stamp, SystemStatus
from companies.permissions import ALL
from companies.running.progress import Tell, silent
from companies.time_zones import get_today
from ledger.money.rates import rate_table

CURRENCY = "EUR"


@dataclass(frozen=True, slots=True)
class Demonstration:
    """How to get into the company that was made."""

    company_id: str
    email: str
    password: str
    api_key: str

    def as_json(self) -> dict[str, str]:
        return {
            "companyId": self.company_id,
            "email": self.email,
            "password": self.password,
            "apiKey": self.api_key,
        }


def furnish(
    *, name: str, months: int, transactions: int, seed: int, now: datetime, tell: Tell = silent
) -> Demonstration:
    """A company with people, an owner-level key, and a believable past and plan.

    There are ``transactions`` movements over the months up to now, and the accounts' initial balances. The same seed
    and day make the same figures; only secrets differ. Raises MissingRate.
    """
    tell("Founding the company", 0.0)
    recipe = {"months": months, "transactions": transactions, "seed": seed}
    stamp = Stamp(time=now)
    password = secrets.token_urlsafe(12)
    owner = people.owner_with(password)
    company, _ = found_company(
        name=name,
        base_currency=CURRENCY,
        owner=owner,
        stamp=stamp,
        status=SystemStatus.FREE,
        demonstration=recipe,
    )
    people.add_colleagues(company=company, stamp=stamp)
    minted = api_keys.mint(company=company, stamp=stamp, name="Demo", permissions=ALL, creator=None)
    fill(company=company, stamp=stamp, tell=tell, **recipe)
    return Demonstration(company_id=str(company.id), email=owner.email, password=password, api_key=minted.text)


def fill(*, company: Company, stamp: Stamp, months: int, transactions: int, seed: int, tell: Tell = silent) -> None:
    """Gives an empty company its past and plan, up to the stamp's day. Raises MissingRate."""
    chance = random.Random(seed)  # noqa: S311 - figures to look at, not secrets
    story = told(
        months=months, count=transactions, today=get_today(company, stamp.time), chance=chance, rates=rate_table()
    )
    opened = accounts.opened(company=company, stamp=stamp, opening=story.opening, first=story.months[0])
    subscriptions.subscribe(
        company=company, stamp=stamp, customers=story.customers, today=get_today(company, stamp.time)
    )
    books = Books(company=company, stamp=stamp, accounts=opened, tell=tell)
    books.store(story.movements)
    accounts.archive_former(opened=opened, stamp=stamp)
    sorting.make_rules(company=company, stamp=stamp, categories=books.categories)
    tell("Planning", 0.95)
    plans = Plans(company=company, stamp=stamp, accounts=opened, categories=books.categories, story=story)
    plans.expect()
    plans.budget_lines()
    papers.keep_papers(company=company, stamp=stamp)
    statements.bring_statements(company=company, stamp=stamp, accounts=opened)
    recurring.refresh(company)
    metrics.store_metrics(company=company, stamp=stamp)
    Company.objects.touch(company.id, stamp.time)

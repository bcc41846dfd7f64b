"""Onboarding steps of an empty company: import, categorize, plan, close the month and invite."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Exists, Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics.charts.chart_data import ChartData
from companies.models import Company, Membership
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.models import Account, Categorization, Source, Transaction
from planning.models import PlanItem, PlannedTransaction


@dataclass(frozen=True, slots=True)
class OnboardingStep:
    """One onboarding step; `actions` are (label, URL), empty without the permission or once it is done."""

    title: str | Promise
    text: str | Promise
    is_done: bool
    actions: tuple[tuple[str | Promise, str], ...] = ()
    is_next: bool = False  # the first available step


@dataclass(frozen=True, slots=True)
class StepDefinition:
    """The definition of a step; `actions` are (label, URL name)."""

    title: str | Promise
    text: str | Promise
    done_key: str  # key of `find_completed_steps`
    permission: Permission
    actions: tuple[tuple[str | Promise, str], ...]


ADD_ACCOUNT_STEP = StepDefinition(
    _("Import a bank statement"),
    _("Upload statements (CAMT, MT940, OFX, QIF or CSV). You can create each account from its first file."),
    "money",
    Permission.ACCOUNTS_WRITE,
    ((_("New account"), "account-new"),),
)
IMPORT_STEP = replace(
    ADD_ACCOUNT_STEP,
    permission=Permission.TRANSACTIONS_WRITE,
    actions=((_("Import"), "import-new"), (_("New transaction"), "transaction-new")),
)
FIRST_IMPORT_STEP = replace(IMPORT_STEP, actions=((_("Import"), "import-new"), (_("New account"), "account-new")))
LATER_STEPS = (
    StepDefinition(
        _("Categorize transactions"),
        _("Categories build your profit and loss. The inbox suggests one for each transaction."),
        "purposes",
        Permission.TRANSACTIONS_WRITE,
        ((_("Inbox"), "inbox"),),
    ),
    StepDefinition(
        _("Plan upcoming payments"),
        _("Import your plan and open invoices, or add rent, salaries and taxes, to forecast your cash."),
        "plan",
        Permission.PLANNING_WRITE,
        ((_("Import plan"), "plan-import"), (_("Plan transaction"), "planned-new")),
    ),
    StepDefinition(
        _("Close your first month"),
        _("Check balances, compare with the plan, comment the report, and lock the month."),
        "closing",
        Permission.CLOSINGS_MANAGE,
        ((_("Close month"), "closings"),),
    ),
    StepDefinition(
        _("Invite your team"),
        _("Give bookkeepers, colleagues or advisors access with a role."),
        "others",
        Permission.COMPANY_MANAGE,
        ((_("Invite member"), "members"),),
    ),
)


def build_onboarding_steps(data: ChartData, page: CompanyPage) -> list[OnboardingStep]:
    """Build the steps in the recommended order; empty once done, dismissed, or for a past period.

    Closing a month and inviting others come later.
    """
    if page.company.first_hour_over:
        return []
    if data.until < data.today or (data.posted_results.cells and any(data.expectations)):  # known without a query
        return []
    done = find_completed_steps(page.company.id)
    if done["money"] and done["purposes"] and done["plan"]:
        return []
    steps = [
        build_step(page, definition, done)
        for definition in (choose_import_step(page, has_accounts=done["accounts"]), *LATER_STEPS)
    ]
    next_step = next((each for each in steps if each.actions), None)
    return [replace(each, is_next=each is next_step) for each in steps]


def choose_import_step(page: CompanyPage, *, has_accounts: bool) -> StepDefinition:
    """Return the first step: an import creates accounts, for those who may do both."""
    if has_accounts:
        return IMPORT_STEP
    can_import = page.has_permission(Permission.TRANSACTIONS_WRITE) and page.has_permission(Permission.ACCOUNTS_WRITE)
    return FIRST_IMPORT_STEP if can_import else ADD_ACCOUNT_STEP


def build_step(page: CompanyPage, definition: StepDefinition, done: dict[str, bool]) -> OnboardingStep:
    is_available = page.has_permission(definition.permission) and not done[definition.done_key]
    actions = (
        tuple((label, reverse(name, args=[page.company.id])) for label, name in definition.actions)
        if is_available
        else ()
    )
    return OnboardingStep(definition.title, definition.text, done[definition.done_key], actions)


def find_completed_steps(company_id: UUID) -> dict[str, bool]:
    """Return which steps a company has completed; one statement."""
    booked = Transaction.objects.for_company(company_id).exclude(source=Source.INITIAL_BALANCE)
    conditions = {
        "accounts": Exists(Account.objects.for_company(company_id)),
        "money": Exists(booked),
        "purposes": Exists(
            Categorization.objects.for_company(company_id).exclude(transaction__source=Source.INITIAL_BALANCE)
        ),
        "plan": Exists(PlannedTransaction.objects.for_company(company_id))
        | Exists(PlanItem.objects.for_company(company_id)),
        "closing": Q(closed_through__isnull=False),
        "others": Exists(Membership.objects.for_company(company_id).order_by()[1:2]),
    }
    row: Any = Company.objects.filter(id=company_id).values(**conditions).get()
    return dict(row)

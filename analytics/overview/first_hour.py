"""What leads an empty company to its first figures: a bank file, what it was for, what is to come, who else looks."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Exists
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics.overview.facts import Facts
from companies.models import Company, Membership
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.models import Account, Categorization, Source, Transaction
from planning.models import PlanItem, PlannedTransaction


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, and (label, address) of where; none for those who may not, and none once it is done."""

    title: str | Promise
    text: str | Promise
    done: bool
    ways: tuple[tuple[str | Promise, str], ...] = ()
    next: bool = False  # the first of those that can be done now


@dataclass(frozen=True, slots=True)
class Lead:
    """A step before it is known how far somebody is; ``ways`` are (label, name of the address)."""

    title: str | Promise
    text: str | Promise
    until: str  # there is this
    needed: Permission
    ways: tuple[tuple[str | Promise, str], ...]


OPEN = Lead(
    _("Bring in your bank's file"),
    _("Add an account for each place where money lies, then drop what your bank exports: CAMT, MT940, OFX, CSV."),
    "money",
    Permission.ACCOUNTS_WRITE,
    ((_("New account"), "account-new"),),
)
BRING = replace(
    OPEN,
    needed=Permission.TRANSACTIONS_WRITE,
    ways=((_("Import"), "import-new"), (_("New transaction"), "transaction-new")),
)
LATER = (
    Lead(
        _("Say what it was for"),
        _("Each transaction gets a category, from which profit and loss follow. The inbox proposes one for each."),
        "purposes",
        Permission.TRANSACTIONS_WRITE,
        ((_("Inbox"), "inbox"),),
    ),
    Lead(
        _("Plan what is to come"),
        _("Rent, salaries, tax: what recurs or is due once. The forecast of your cash is drawn from it."),
        "plan",
        Permission.PLANNING_WRITE,
        ((_("Plan something"), "planned-new"),),
    ),
    Lead(
        _("Ask others in"),
        _("Whoever keeps the books with you, or only looks: each has a role."),
        "others",
        Permission.COMPANY_MANAGE,
        ((_("Invite somebody"), "members"),),
    ),
)


def first_hour(facts: Facts, visit: Visit) -> list[Step]:
    """In the order in which they are best done; none where all is done but asking others in, for some work alone, none
    where somebody put them away, and none beside the past."""
    if visit.company.first_hour_over:
        return []
    if facts.until < facts.today or (facts.posted.cells and any(facts.plans)):  # known without asking
        return []
    done = done_in(visit.company.id)
    if done["money"] and done["purposes"] and done["plan"]:
        return []
    steps = [step(visit, each, done) for each in (BRING if done["accounts"] else OPEN, *LATER)]
    coming = next((each for each in steps if each.ways), None)
    return [replace(each, next=each is coming) for each in steps]


def step(visit: Visit, each: Lead, done: dict[str, bool]) -> Step:
    leads = visit.may(each.needed) and not done[each.until]
    ways = tuple((label, reverse(name, args=[visit.company.id])) for label, name in each.ways) if leads else ()
    return Step(each.title, each.text, done[each.until], ways)


def done_in(company_id: UUID) -> dict[str, bool]:
    """What there is in the company, in one statement."""
    booked = Transaction.objects.of(company_id).exclude(source=Source.INITIAL_BALANCE)
    found = {
        "accounts": Exists(Account.objects.of(company_id)),
        "money": Exists(booked),
        "purposes": Exists(Categorization.objects.of(company_id)),
        "plan": Exists(PlannedTransaction.objects.of(company_id)) | Exists(PlanItem.objects.of(company_id)),
        "others": Exists(Membership.objects.of(company_id).order_by()[1:2]),
    }
    row: Any = Company.objects.filter(id=company_id).values(**found).get()
    return dict(row)

"""Planned transactions: the rules that say what is expected, and what comes of each."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.models import Currency
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.calc.months import add_months
from ledger.calc.recognition import DateRule
from ledger.transactions.pages.counterparties import suggested
from ledger.transactions.pages.words import RULES, in_choices, names_for
from planning import scheduling
from planning.models import Frequency, PlannedTransaction, SettledBy, Source, with_overrides
from planning.occurring import MOST_YEARS, next_of
from planning.pages import outlook, plan_form
from planning.totals import NOTHING_SETTLED, find_settled_amounts_of

A_YEAR = 12  # months that the page of one rule looks ahead
FREQUENCIES = {
    Frequency.DAY: gettext_lazy("Every day"),
    Frequency.WEEK: gettext_lazy("Every week"),
    Frequency.MONTH: gettext_lazy("Every month"),
    Frequency.YEAR: gettext_lazy("Every year"),
}

SETTLED_BY = {
    SettledBy.TRANSACTION: (
        gettext_lazy("One transaction"),
        gettext_lazy("Rent, a salary run, an invoice: one payment settles it."),
    ),
    SettledBy.CATEGORY: (
        gettext_lazy("Everything booked in its category that month"),
        gettext_lazy("A month’s total, such as all subscription payments. Needs a category."),
    ),
}


@company_page(reads=Permission.PLANNING_READ)
def rules(visit: Visit) -> HttpResponse:
    """The rules, the latest first, each with its next occurrence."""
    accounts = visible_accounts(visit)
    rows, cursor = visit.page_of(PlannedTransaction.objects.of(visit.company.id), order=("-id",))
    missing, settled = "", NOTHING_SETTLED
    try:
        settled = find_settled_amounts_of(rows, start=visit.today, end=add_months(visit.today, MOST_YEARS * A_YEAR))
    except MissingRate as error:
        missing = error.currency
    shown = [
        {
            "row": row,
            "next": next_of(row, today=visit.today, settled=settled),
            "words": outlook.in_words(row),
            "account": accounts.get(row.account_id, "") if row.account_id else "",
        }
        for row in with_overrides(rows)
    ]
    writes = visit.may(Permission.PLANNING_WRITE)
    return visit.show("planning/rules.html", tab="planned", rules=shown, cursor=cursor, writes=writes, missing=missing)


def visible_accounts(visit: Visit) -> dict[UUID, str]:
    """The names of the accounts, where the visitor may see them."""
    return outlook.account_names(visit.company) if visit.may(Permission.ACCOUNTS_READ) else {}


@company_page(reads=Permission.PLANNING_READ)
def one(visit: Visit, planned_id: UUID) -> HttpResponse:
    """A rule, what comes of it within a year, and what differs about single occurrences."""
    planned = found(visit, planned_id)
    known, accounts = names_for(visit), visible_accounts(visit)
    end = add_months(visit.today, A_YEAR)
    occurrences, missing = [], ""
    try:
        occurrences = outlook.coming_of(visit, planned, end=end, accounts=accounts)
    except MissingRate as error:
        missing = error.currency
    return visit.show(
        "planning/rule.html",
        tab="planned",
        planned=planned,
        words=outlook.in_words(planned),
        account=known.account(planned.account_id) if planned.account_id else "",
        category=known.category(planned.category_id) if planned.category_id else "",
        counterparty=known.counterparty(planned.counterparty) if planned.counterparty else "",
        late=[each for each in occurrences if each.state == "overdue"],
        coming=[each for each in occurrences if each.is_ahead(visit.today)][: outlook.MOST_SHOWN],
        sees_transactions=visit.may(Permission.TRANSACTIONS_READ),
        differing=list(planned.overrides.values()),
        missing=missing,
        writes=visit.may(Permission.PLANNING_WRITE),
    )


# ---------------------------------------------------------------------------------------------- new and changed


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def new(visit: Visit) -> HttpResponse:
    """Plans something."""
    if visit.request.method != "POST":
        return plan_page(visit, plan_form.blank(startDate=visit.today.isoformat(), frequency="month"))
    form = plan_form.read(visit, planned=None, hidden=hidden(visit))
    if form.valid:
        with visit.sending(form):
            values = plan_form.with_new_counterparty(visit, form)
            planned = scheduling.plan(company=visit.company, stamp=visit.stamp, source=Source.MANUAL, values=values)
            said = _("{name} was planned.").format(name=planned.name)
            return visit.done(said, "planned-one", planned_id=planned.id)
    return plan_page(visit, form)


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def edit(visit: Visit, planned_id: UUID) -> HttpResponse:
    """Changes a rule. What differs about single occurrences stays."""
    planned = found(visit, planned_id)
    if visit.request.method != "POST":
        return plan_page(visit, plan_form.of_row(planned), planned=planned)
    form = plan_form.read(visit, planned=planned, hidden=hidden(visit))
    if form.valid:
        with visit.sending(form):
            values = plan_form.with_new_counterparty(visit, form)
            changed = scheduling.change(
                company=visit.company, stamp=visit.stamp, planned_id=planned_id, values=lambda stored: values
            )
            said = _("{name} was saved.").format(name=changed.name)
            return visit.done(said, "planned-one", planned_id=planned_id)
    return plan_page(visit, form, planned=planned)


def hidden(visit: Visit) -> set[str]:
    """The fields that the form does not show to somebody who may not see what they name."""
    needed = {
        "accountId": Permission.ACCOUNTS_READ,
        "categoryId": Permission.CATEGORIES_READ,
        "counterparty": Permission.COUNTERPARTIES_READ,
    }
    return {name for name, permission in needed.items() if not visit.may(permission)}


def plan_page(visit: Visit, form: Typed, *, planned: PlannedTransaction | None = None) -> HttpResponse:
    names = names_for(visit)
    if planned is None and not visit.sent:
        form.values = {**form.values, "accountId": names.only_account()}
    return visit.show(
        "planning/plan_form.html",
        status=400 if form.errors else 200,
        tab="planned",
        form=form,
        planned=planned,
        seen=visit.seen(planned) if planned else "",
        hidden=hidden(visit),
        accounts=[(str(key), name) for key, name in visible_accounts(visit).items()],
        categories=names.category_choices(),
        currencies=Currency.values,
        frequencies=FREQUENCIES,
        settled_by=[(value, label, hint) for value, (label, hint) in SETTLED_BY.items()],
        date_rules=in_choices(RULES),
        attempts=[("true", _("Yes")), ("false", _("No"))],
        counterparties=suggested(visit),
        more_open=any(shown(form, name) for name in plan_form.MORE),
    )


def shown(form: Typed, name: str) -> bool:
    """Whether a folded field has something to show: a value that is not the usual one, or a mistake."""
    return name in form.errors or form.values.get(name, "") not in ("", DateRule.TRANSACTION_DATE.value)


@company_page(writes=Permission.PLANNING_WRITE)
def delete(visit: Visit, planned_id: UUID) -> HttpResponse:
    """It is expected no longer."""
    with visit.sending():
        planned = scheduling.remove(company=visit.company, stamp=visit.stamp, planned_id=planned_id)
        return visit.done(_("{name} is planned no longer.").format(name=planned.name), "planned")
    return visit.to("planned")


def found(visit: Visit, planned_id: UUID) -> PlannedTransaction:
    """The planned transaction of the address, with its overrides. Raises Http404."""
    rows = PlannedTransaction.objects.of(visit.company.id).with_counterparty()
    row = get_object_or_404(rows, id=planned_id)
    row.company = visit.company
    return with_overrides([row])[0]

"""The list of transactions, and what is done with its ticked rows or with all that match: the acts of the API."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.errors import FieldErrors
from companies.models import id_from
from companies.pages.amounts import number
from companies.pages.typed import Typed
from companies.pages.visits import A_PAGE, Visit, company_page
from companies.permissions import Permission
from ledger.calc.recognition import DateRule
from ledger.models import RunAct
from ledger.purposes import categorizing, shapes, uncategorizing
from ledger.transactions import booking
from ledger.transactions.listed import Sums, summed
from ledger.transactions.pages.counterparties import counterparty_called
from ledger.transactions.pages.listing import Question, asked, show_list
from ledger.transactions.pages.meanwhile import unless_changed
from ledger.transactions.pages.ways import SAID
from ledger.transactions.pages.words import names_for, of_line
from ledger.transactions.selections import MOST_IDS, selected
from ledger.transactions.shapes import SelectionShape
from ledger.transactions.undoing import TakenBack, take_back, undoable

TEXTS = ("category", "counterparty", "rule", "ruleStart", "ruleEnd")
FIELDS = {  # where the page shows what is wrong with a field of the body
    "categoryId": "category",
    "plType": "category",
    "counterparty": "counterparty",
    "usingDateRule": "rule",
    "usingDateRule/startDate": "ruleStart",
    "usingDateRule/endDate": "ruleEnd",
    "selection": "selection",
}


@dataclass(frozen=True, slots=True)
class Act:
    """What can be done with many: how it is kept, and what reads the form and gives back the deed, which says what it
    did."""

    kind: RunAct
    verb: Any  # lazy: in the language of who reads it
    prepared: Callable[[Visit, Typed, dict[str, Any]], Callable[[], str]]
    most: int | None = None  # transactions at once
    beyond: Any = ""  # what is said of more


@company_page(reads=Permission.TRANSACTIONS_READ, writes=Permission.TRANSACTIONS_WRITE)
def transactions(visit: Visit) -> HttpResponse:
    """The list with its filters; its form does something with rows of it. Raises PermissionDenied."""
    if not visit.sent:
        return show_list(visit)
    if not visit.may(Permission.TRANSACTIONS_READ):
        raise PermissionDenied  # the answer is the list
    posted = visit.request.POST
    if posted.get("act") == "undo":
        return undo(visit)
    values = {name: posted.get(name, "").strip() for name in TEXTS} | {"whole": "whole" in posted}
    form = Typed(values=values, fields=FIELDS)
    ticked = frozenset(posted.getlist("id"))
    with visit.sending(form):
        chosen = selection(visit, form)
        act = act_asked(visit)
        deed = act.prepared(visit, form, chosen)
        rows = selected(visit.company, parsed(SelectionShape, chosen))
        meant = summed(rows)
        check_most(act, meant)
        if more_than_shown(visit, form, meant) and posted.get("confirmed") != meant.word:
            again = "confirmed" in posted
            question = Question(act.kind, act.verb, meant, category=category_of(visit, act, form), again=again)
            return show_list(visit, bulk=form, ticked=ticked, question=question)
        with undoable(company=visit.company, stamp=visit.stamp, act=act.kind, rows=rows) as run:
            if "confirmed" not in posted:
                unless_changed(visit, rows)
            spoken_of = one_for_all(rows) if act.kind == RunAct.CATEGORIZE else None
            said = deed()
        if act.kind == RunAct.CATEGORIZE and meant.count > run.affected:
            said += f" {left_alone(meant.count - run.affected)}"
        say = messages.success if run.affected else messages.warning
        say(visit.request, said)
        return redirect(back_to(visit, run=str(run.id) if run.affected else None, said_of=spoken_of))
    return show_list(visit, bulk=form, ticked=ticked)


def act_asked(visit: Visit) -> Act:
    """Raises FieldErrors."""
    act = ACTS.get(visit.request.POST.get("act", ""))
    if act is None:
        raise FieldErrors([("#/selection", "required", _("Say what to do with them."))])
    return act


def check_most(act: Act, meant: Sums) -> None:
    """Raises FieldErrors."""
    if act.most is not None and meant.count > act.most:
        raise FieldErrors([("#/selection", "too_many_ids", str(act.beyond).format(most=number(act.most)))])


def more_than_shown(visit: Visit, form: Typed, meant: Sums) -> bool:
    """Whether rows are meant that the page does not show: those are counted, and confirmed, first."""
    return form.values["whole"] and (meant.count > A_PAGE or bool({"cursor", "before"} & set(visit.request.GET)))


def category_of(visit: Visit, act: Act, form: Typed) -> str:
    """What the act gives, as it is called; nothing where it gives none."""
    category_id = id_from(of_line(form.values["category"])[0])
    if act.kind != RunAct.CATEGORIZE or category_id is None:
        return ""
    return names_for(visit).category(category_id)


def undo(visit: Visit) -> HttpResponse:
    """Takes an act by hand back, where nobody has touched since what it did."""
    with visit.sending():
        done = take_back(company=visit.company, stamp=visit.stamp, run_id=visit.request.POST.get("run", ""))
        messages.success(visit.request, taken_back(done))
    return redirect(back_to(visit))


def taken_back(done: TakenBack) -> str:
    """How many are as before, and how many stay."""
    said = ngettext("{count} transaction as before.", "{count} transactions as before.", done.affected)
    return with_kept(said, done)


def with_kept(first: str, done: TakenBack) -> str:
    """What was taken back, by a sentence with its count, and how many stay."""
    said = [first]
    if done.kept_count:
        kept = ngettext(
            "{kept} stays: somebody has touched it since.",
            "{kept} stay: somebody has touched them since.",
            done.kept_count,
        )
        said.append(kept)
    return " ".join(said).format(count=number(done.affected), kept=number(done.kept_count))


def one_for_all(rows: Any) -> UUID | None:
    """One of the transactions where all are from, or to, the same; None where they are more than a page shows."""
    found = list(rows.order_by("-date", "-id").values_list("id", "from_to")[: A_PAGE + 1])
    alike = len({name.casefold() for _, name in found}) == 1 and len(found) <= A_PAGE
    return found[0][0] if alike and (found[0][1] or len(found) == 1) else None


def back_to(visit: Visit, *, run: str | None = None, said_of: UUID | None = None) -> str:
    """The list as it was seen, with the way to take back what was done, and what of was said what it is for."""
    query = visit.request.GET.copy()
    for name, value in {"run": run, SAID: said_of}.items():
        query.pop(name, None)
        if value:
            query[name] = str(value)
    return f"{visit.request.path}?{query.urlencode()}" if query else visit.request.path


def selection(visit: Visit, form: Typed) -> dict[str, Any]:
    """The body's selection: the rows that were ticked, or what the address asks for. Raises FieldErrors."""
    if form.values["whole"]:
        wanted = asked(visit)
        if not wanted.form.valid:  # without the filter that is wrong, others would match
            raise FieldErrors([("#/selection", "invalid_filter", _("Mend the filter first."))])
        return wanted.selection()
    ids = visit.request.POST.getlist("id")
    if not ids:
        raise FieldErrors([("#/selection", "required", _("Tick transactions first, or all that match."))])
    return {"mode": "ids", "ids": ids}


def parsed(shape: Any, body: Any) -> dict[str, Any]:
    """A body through a shape of the API. Raises ValidationError."""
    serializer = shape(data=body)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def categorize(visit: Visit, form: Typed, chosen: dict[str, Any]) -> Callable[[], str]:
    """POST transactions/categorize."""
    if not form.values["category"]:
        raise FieldErrors([("#/categoryId", "required", _("Choose a category."))])
    category_id, line = of_line(form.values["category"])
    body: dict[str, Any] = {"selection": chosen, "categoryId": category_id, "plType": line}
    if name := form.values["counterparty"]:
        body["counterparty"] = {"id": str(counterparty_called(visit, name).id)}
    body["usingDateRule"] = date_rule(form.values["rule"], form.values["ruleStart"], form.values["ruleEnd"])
    values = parsed(shapes.CategorizeRequest, body)

    def deed() -> str:
        count = categorizing.categorize(
            company=visit.company, stamp=visit.stamp, selection=values["selection"], **shapes.choice_of(values)
        )
        return categorized(count)

    return deed


def categorized(count: int) -> str:
    """So many were."""
    said = ngettext("{count} transaction categorized.", "{count} transactions categorized.", count)
    return said.format(count=number(count))


def left_alone(count: int) -> str:
    """So many were chosen and got no category, and why."""
    said = ngettext(
        "{count} stays as it is: linked transfers and initial balances take no category.",
        "{count} stay as they are: linked transfers and initial balances take no category.",
        count,
    )
    how = _("To categorize a transfer, unlink it on its page first.")
    return f"{said.format(count=number(count))} {how}"


def date_rule(rule: str, start: str, end: str, *, invoice: str = "") -> dict[str, Any]:
    """``usingDateRule`` of what was typed; days that were left empty are not sent."""
    days = {"startDate": start, "endDate": end, "invoiceDate": invoice}
    return {"type": rule or DateRule.TRANSACTION_DATE.value} | {name: day for name, day in days.items() if day}


def uncategorize(visit: Visit, form: Typed, chosen: dict[str, Any]) -> Callable[[], str]:
    """POST transactions/uncategorize."""
    values = parsed(shapes.UncategorizeRequest, {"selection": chosen})

    def deed() -> str:
        done = uncategorizing.uncategorize(company=visit.company, stamp=visit.stamp, selection=values["selection"])
        count, legs = len(done.affected), done.counters_created
        said = [ngettext("{count} transaction uncategorized.", "{count} transactions uncategorized.", count)]
        if legs:
            said.append(
                ngettext(
                    "{legs} other leg of transfers opened again.", "{legs} other legs of transfers opened again.", legs
                )
            )
        return " ".join(said).format(count=number(count), legs=number(legs))

    return deed


def delete(visit: Visit, form: Typed, chosen: dict[str, Any]) -> Callable[[], str]:
    """POST transactions/batch_delete, of the ids that were chosen."""
    values = parsed(SelectionShape, chosen)

    def deed() -> str:
        ids = selected(visit.company, values).order_by("id").values_list("id", flat=True)
        wanted: dict[str, UUID | None] = {str(each): each for each in ids}
        count = booking.remove_many(company=visit.company, stamp=visit.stamp, ids=wanted)
        said = ngettext("{count} transaction deleted.", "{count} transactions deleted.", count)
        return said.format(count=number(count))

    return deed


ACTS = {
    "categorize": Act(RunAct.CATEGORIZE, gettext_lazy("Categorize"), categorize),
    "uncategorize": Act(RunAct.UNCATEGORIZE, gettext_lazy("Uncategorize"), uncategorize),
    "delete": Act(
        RunAct.DELETE,
        gettext_lazy("Delete"),
        delete,
        most=MOST_IDS,
        beyond=gettext_lazy("At most {most} are deleted at once: narrow the filter."),
    ),
}

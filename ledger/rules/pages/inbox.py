"""The inbox: what waits for a word of a person, each with what history proposes, and what else is wrong."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.errors import FieldErrors
from companies.models import Company, id_from
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from companies.versions import version_of
from ledger import hooks
from ledger.models import Account, CategorizationRun, RunAct, Transaction
from ledger.purposes import shapes
from ledger.purposes.completing import categorize_rest
from ledger.purposes.pages.categorizing import FIELDS, categorized, parsed, taken_back
from ledger.rules import refusing
from ledger.rules.calc.pairs import Pair
from ledger.rules.calc.proposing import ACCOUNT, COUNTERPARTY, OWN, TEXT, Proposal
from ledger.rules.habits import proposed
from ledger.rules.pairing import transfer_pairs
from ledger.rules.shapes import Refusal
from ledger.transactions import transfers
from ledger.transactions.pages.listing import run_of
from ledger.transactions.pages.meanwhile import unless_changed, what_became_of
from ledger.transactions.pages.ways import inbox_at
from ledger.transactions.pages.words import Names, as_line, names_for, of_line
from ledger.transactions.undoing import take_back, undoable

A_SCREEN = 20  # of transactions, and of pairs
MOST_COUNTED = 99
PAIRED_BACK = timedelta(days=180)  # older transfers are linked from their own pages
Notice = tuple[str, str]  # what to look at, and where
WHY = {
    COUNTERPARTY: gettext_lazy("{agreed} of {seen} from this name"),
    TEXT: gettext_lazy("{agreed} of {seen} with a similar name or text"),
    ACCOUNT: gettext_lazy("{agreed} of {seen} on this account"),
    OWN: gettext_lazy("The other party is your company"),
}
# Where it is not what most transactions of the name have: the ones that are most like this one decide.
WHY_ALIKE = gettext_lazy("Similar amount, account or text; {agreed} of {seen} from this name")


class Offer(NamedTuple):
    """What an app above has put together, to be confirmed in one press: a form that goes to ``address``."""

    what: str
    detail: str
    amount: Decimal
    currency: str
    address: str
    fields: dict[str, str]
    button: str
    label: str  # of the button, for who does not see what it stands beside
    refusal: dict[str, str]  # the fields that say the two do not belong together


class Done(NamedTuple):
    """What a press did: in words, the transaction that it spoke of, and the run by which it is taken back."""

    said: str
    said_of: UUID | None = None
    run: UUID | None = None
    refused: UUID | None = None
    back: str = ""  # the row that is there again then


class Undo(NamedTuple):
    """The form that takes back what was just done."""

    address: str
    fields: dict[str, str]


def waiting(company: Company) -> Any:
    """What waits: booked and open."""
    return Transaction.objects.of(company.id).booked().open()


# Every page asks: to put this together would take the framework several times as long as to answer it.
_WAITING = """
    SELECT count(*) FROM (
        SELECT FROM ledger_transaction
         WHERE company_id = %(company)s AND NOT pending AND amount_value <> categorized_value LIMIT %(most)s
    ) AS waiting
"""


def inbox_count(request: HttpRequest) -> dict[str, object]:
    """For every template: how many wait in the page's company, counted where a page shows it, up to a hundred."""

    def count() -> str:
        access = getattr(request, "access", None)
        if access is None or Permission.TRANSACTIONS_READ not in access.permissions:
            return ""
        with connection.cursor() as cursor:
            cursor.execute(_WAITING, {"company": access.company.id, "most": MOST_COUNTED + 1})
            found = cursor.fetchone()[0]
        return f"{MOST_COUNTED}+" if found > MOST_COUNTED else str(found or "")

    return {"inbox_count": SimpleLazyObject(count)}


@company_page(reads=Permission.TRANSACTIONS_READ, writes=Permission.TRANSACTIONS_WRITE)
def inbox(visit: Visit) -> HttpResponse:
    """What waits, the latest first; its forms say what one is for, or confirm a pair. Raises PermissionDenied."""
    if not visit.sent:
        return show_inbox(visit, Typed(values={}))
    if not visit.may(Permission.TRANSACTIONS_READ):
        raise PermissionDenied  # the answer is the list
    form = Typed(values=dict.fromkeys(("category", "id"), ""), fields=FIELDS)
    with visit.sending(form):
        done = ACTS.get(visit.request.POST.get("act", ""), unknown)(visit)
        messages.success(visit.request, done.said)
        undo = {"run": done.run, "refused": done.refused, "back": done.back}
        return redirect(inbox_at(visit, visit.request.POST.get("next"), said_of=done.said_of, **undo))
    if visit.outdated:
        form.errors = {"row": what_became_of(visit, asked_about(visit))}
    return show_inbox(visit, form)


# ---------------------------------------------------------------------------------------------- what is done


def accept(visit: Visit) -> Done:
    """POST transactions/categorize, of what is open of one."""
    posted = visit.request.POST
    category_id, line = of_line(posted.get("category", ""))
    if not category_id:
        raise FieldErrors([("#/categoryId", "required", _("Choose a category."))])
    rows = asked_about(visit)
    if not rows:
        raise FieldErrors([("#/id", "unknown_id", _("The transaction was deleted meanwhile."))])
    selection = {"mode": "ids", "ids": [str(rows[0].id)]}
    body: dict[str, Any] = {"selection": selection, "categoryId": category_id, "plType": line}
    if posted.get("counterparty"):
        body["counterparty"] = {"id": posted["counterparty"]}
    choice = shapes.choice_of(parsed(shapes.CategorizeRequest, body))
    with kept_for_undo(visit, [rows[0].id]) as run:
        categorize_rest(
            company=visit.company,
            stamp=visit.stamp,
            transaction_id=rows[0].id,
            **{name: choice[name] for name in ("category_id", "pl_type", "counterparty")},
        )
    return Done(categorized(1), said_of=rows[0].id, run=run.id, back=f"t-{rows[0].id}")


def kept_for_undo(visit: Visit, ids: list[UUID]) -> AbstractContextManager[CategorizationRun]:
    """Around a press that says what transactions were for: it is taken back as an act on the list is."""
    rows = Transaction.objects.of(visit.company.id).filter(id__in=ids)
    return undoable(company=visit.company, stamp=visit.stamp, act=RunAct.CATEGORIZE, rows=rows)


def asked_about(visit: Visit) -> list[Transaction]:
    """The transaction that a form is about, as it is now; none where it is gone."""
    wanted = id_from(visit.request.POST.get("id", ""))
    return list(Transaction.objects.of(visit.company.id).filter(id=wanted)) if wanted else []


def link(visit: Visit) -> Done:
    """POST transactions/link_transfer, of a proposed pair."""
    source, target = (id_from(visit.request.POST.get(name, "")) for name in ("source", "target"))
    if source is None or target is None:
        raise FieldErrors([("#/target", "required", _("Choose a pair."))])
    # In words here; what changes between this look and the act, the act itself refuses.
    unless_changed(visit, Transaction.objects.of(visit.company.id).filter(id__in=[source, target]))
    with kept_for_undo(visit, [source, target]) as run:
        transfers.link(
            company=visit.company, stamp=visit.stamp, source_id=source, source_part_id=None, target_id=target
        )
    return Done(_("The two are linked as one transfer."), run=run.id if run.affected else None, back=f"p-{source}")


def refuse(visit: Visit) -> Done:
    """The transaction is not what it was put together with: neither here nor by the API is that proposed again."""
    posted = visit.request.POST
    sent = {"id": posted.get("id", ""), "otherId": posted.get("other", ""), "day": posted.get("day") or None}
    refused = refusing.refuse(company=visit.company, stamp=visit.stamp, **parsed(Refusal, sent))
    return Done(_("The two are not proposed together again."), refused=refused.id, back=posted.get("back", ""))


def undo(visit: Visit) -> Done:
    """Takes back what the last press did."""
    if refused := visit.request.POST.get("refused"):
        refusing.allow(company=visit.company, stamp=visit.stamp, refused_id=refused)
        return Done(_("The two may be proposed together again."))
    done = take_back(company=visit.company, stamp=visit.stamp, run_id=visit.request.POST.get("run", ""))
    return Done(taken_back(done))


def unknown(visit: Visit) -> Done:
    raise FieldErrors([("#/act", "required", _("Say what to do with it."))])


ACTS: dict[str, Callable[[Visit], Done]] = {"accept": accept, "link": link, "refuse": refuse, "undo": undo}


# ---------------------------------------------------------------------------------------------- the page


def show_inbox(visit: Visit, form: Typed) -> HttpResponse:
    names = names_for(visit)
    rows = list(waiting(visit.company).order_by("-date", "-id")[: A_SCREEN + 1])
    rows, more = rows[:A_SCREEN], len(rows) > A_SCREEN
    pairs = transfer_pairs(company=visit.company, start=visit.today - PAIRED_BACK, end=visit.today)[:A_SCREEN]
    found = proposed(visit.company, [row.id for row in rows]) if rows else {}
    begun = bool(rows) or Transaction.objects.of(visit.company.id).exists()
    listed_pairs = [pair_of(pair, shown, names) for pair, shown in with_rows(visit.company, pairs)]
    listed_offers = [{"offer": offer, "place": f"o-{place}"} for place, offer in enumerate(offers(visit), 1)]
    paired = {leg.id for pair in pairs for leg in (pair.source, pair.target)}
    lines = [line_of(row, found.get(row.id, []), names, is_paired=row.id in paired) for row in rows]
    in_order(listed_pairs, listed_offers, lines)
    return visit.show(
        "ledger/rules/inbox.html",
        status=200 if form.valid else 400,
        tab="inbox",
        form=form,
        look_at=[row.id for row in asked_about(visit)] if visit.outdated else [],
        here=None if form.valid else id_from(visit.request.POST.get("id", "")),
        lines=lines,
        more=more,
        begun=begun,
        pairs=listed_pairs,
        offers=listed_offers,
        notices=list(notices(visit)),
        undo=undo_of(visit),
        writes=visit.may(Permission.TRANSACTIONS_WRITE),
        category_lines=names.lines(),
    )


def undo_of(visit: Visit) -> Undo | None:
    """What the address says was just done, to be taken back: here, or by the apps above."""
    asked, run = visit.request.GET, run_of(visit)
    done = {"run": run and run.id, "refused": id_from(asked.get("refused", ""))}
    if name := next((name for name, each in done.items() if each), None):
        return Undo("", {"act": "undo", name: str(done[name]), "next": asked.get("back", "")})
    return next(filter(None, hooks.find_inbox_undo.run(visit)), None)


def in_order(pairs: list[dict[str, Any]], offered: list[dict[str, Any]], lines: list[dict[str, Any]]) -> None:
    """Names to each the one that is looked at next once it is done: the one below, else the one above of its kind, so
    that who goes on pressing a key does not do something else with what was skipped.

    The legs of a pair that is linked wait no longer; of offers the one below moves up into its place.
    """
    rows = [*pairs, *offered, *lines]
    moving_up = {each["place"] for each in offered[:-1]}
    for place, each in enumerate(rows):
        above = (other for other in reversed(rows[:place]) if other["place"][0] == each["place"][0])
        around = [*rows[place + 1 :], *above]
        found = (other["place"] for other in around if other["place"] not in each.get("legs", ()))
        each["next"] = each["place"] if each["place"] in moving_up else next(found, "done")


def line_of(row: Transaction, found: list[Proposal], names: Names, *, is_paired: bool) -> dict[str, Any]:
    """A transaction that waits, and what can be said of it in one press.

    A leg of a proposed pair is linked from the pair. The category Transfers alone would leave it in the cash flow, and
    take the pair away.
    """
    suggested = [each for each in found if not (is_paired and each.kind == OWN)]
    shown = [proposal_of(each, names) for each in suggested if each.use.category_id in names.categories]
    return {
        "row": row,
        "place": f"t-{row.id}",
        "title": row.from_to or row.description or _("No text"),
        "text": row.description if row.from_to else "",
        "account": names.account(row.account_id),
        "rest": row.amount_value - row.categorized_value,
        "seen": version_of(row),
        "best": shown[0] if shown else None,
        "others": shown[1:],
        "is_paired": is_paired,
    }


def proposal_of(proposal: Proposal, names: Names) -> dict[str, Any]:
    """A suggestion as the page shows it. Only a likely one is the primary button; none by account has a key."""
    use = proposal.use
    return {
        "value": as_line(use.category_id, use.pl_type),
        "category_id": str(use.category_id),
        "label": names.category(use.category_id),
        "counterparty": str(use.counterparty_id) if use.counterparty_id else "",
        "likely": proposal.likely,
        "has_key": proposal.kind != ACCOUNT,
        "why": explain(proposal),
    }


def explain(proposal: Proposal) -> str:
    """Say in words what a suggestion is counted from."""
    is_minority = proposal.kind == COUNTERPARTY and 2 * proposal.agreed < proposal.seen
    text = WHY_ALIKE if is_minority and proposal.likely else WHY[proposal.kind]
    return str(text).format(agreed=proposal.agreed, seen=proposal.seen)


def with_rows(company: Company, pairs: list[Pair]) -> Iterable[tuple[Pair, dict[UUID, Transaction]]]:
    ids = [leg.id for pair in pairs for leg in (pair.source, pair.target)]
    rows = Transaction.objects.of(company.id).in_bulk(ids) if ids else {}
    return ((pair, rows) for pair in pairs)


def pair_of(pair: Pair, rows: dict[UUID, Transaction], names: Names) -> dict[str, Any]:
    legs = [(rows[leg.id], names.account(leg.account_id)) for leg in (pair.source, pair.target)]
    return {
        "place": f"p-{pair.source.id}",
        "legs": {f"t-{row.id}" for row, _ in legs},
        "source": legs[0],
        "target": legs[1],
        "versions": [version_of(row) for row, _ in legs],
        "refusal": {"id": str(pair.source.id), "other": str(pair.target.id), "back": f"p-{pair.source.id}"},
        "what": f"{legs[0][1]} → {legs[1][1]}",
        "days": pair.days,
        "difference": pair.difference,
    }


def offers(visit: Visit) -> Iterable[Offer]:
    """What the apps above know to fit together."""
    for found in hooks.list_inbox_offers.run(visit):
        yield from found


def notices(visit: Visit) -> Iterable[Notice]:
    """What else is wrong: balances that disagree with the bank's, and what the apps above know of."""
    if visit.may(Permission.ACCOUNTS_READ):
        accounts = Account.objects.of(visit.company.id).active()
        for account in accounts.filter(bank_connection__isnull=False).in_order():
            if (account.bank_connection or {}).get("balanceMismatchSince"):
                address = f"{reverse('account', args=[visit.company.id, account.id])}#reconciliation"
                yield _("{account}: the balance is not the bank's").format(account=account.name), address
    for found in hooks.list_inbox_notices.run(visit):
        yield from found

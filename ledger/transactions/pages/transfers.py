"""Linking a transaction with the other leg of its transfer, and unlinking it."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from companies.errors import FieldErrors, Missing, unknown_id
from companies.models import id_from
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.models import Categorization, Transaction
from ledger.recognition.posting import NoRate
from ledger.transactions import transfers
from ledger.transactions.matching import candidates
from ledger.transactions.pages.one import initial_refused, parts_of, transaction_of
from ledger.transactions.pages.ways import to_its_page, ways
from ledger.transactions.pages.words import Names, names_for

DAYS = (3, 10, 30, 90)
USUAL_DAYS = 10


@dataclass(frozen=True, slots=True)
class Leg:
    """What of the source is to be the leg: one of its parts, or what is open of it."""

    part_id: UUID | None
    value: Decimal
    label: str

    @property
    def key(self) -> str:
        return str(self.part_id or "")


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def link(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """Movements to choose the other leg from; sent, the link of POST transactions/link_transfer.

    Raises PermissionDenied for somebody who may not read transactions.
    """
    if not visit.may(Permission.TRANSACTIONS_READ):
        raise PermissionDenied  # the page lists others
    row, names = transaction_of(visit, transaction_id), names_for(visit)
    if refused := initial_refused(visit, row):
        return refused
    legs = legs_of(row, names)
    if not visit.sent:
        return show_candidates(visit, row, legs, names, Typed(values={}))
    posted = visit.request.POST
    form = Typed(values={"target": posted.get("target", ""), "force": "force" in posted})
    with visit.sending(form):
        transfers.link(
            company=visit.company,
            stamp=visit.stamp,
            source_id=row.id,
            source_part_id=known(posted["part"]) if posted.get("part") else None,
            target_id=other_leg(visit, form.values["target"]),
            force=form.values["force"],
        )
        return to_its_page(visit, row.id, _("The two are linked as one transfer."))
    return show_candidates(visit, row, legs, names, form)


@company_page(writes=Permission.TRANSACTIONS_WRITE)
def unlink(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """Ends the link of a part, as POST transactions/unlink_transfer does."""
    row = transaction_of(visit, transaction_id)
    with visit.sending():
        leg = parts_of(row).linked().filter(id=id_from(visit.request.POST.get("part", ""))).first()
        if leg is None:
            raise transfers.NotLinked(_("This is not linked any more."))
        transfers.unlink(company=visit.company, stamp=visit.stamp, transaction_id=row.id, part_id=leg.id)
        said = _("The transfer is unlinked; both legs are open again.")
        return to_its_page(visit, row.id, said)
    return to_its_page(visit, row.id)


def known(text: str) -> UUID:
    """Raises Missing for what is no id, as for an id that nobody has."""
    if not (wanted := id_from(text)):
        raise Missing
    return wanted


def other_leg(visit: Visit, text: str) -> UUID:
    """The movement that was chosen. Raises FieldErrors where there is none."""
    if not text:
        raise FieldErrors([("#/target", "required", _("Choose the other leg."))])
    wanted = id_from(text)
    if wanted is None or not Transaction.objects.of(visit.company.id).filter(id=wanted).exists():
        raise unknown_id("#/target")
    return wanted


def legs_of(row: Transaction, names: Names) -> list[Leg]:
    """The open remainder first, where there is one, then the parts that are no legs yet."""
    rest = row.amount_value - row.categorized_value
    whole = [Leg(None, rest, _("What is open"))] if rest else []
    free: list[Categorization] = [part for part in parts_of(row) if part.counter_id is None and part.value]
    return whole + [Leg(part.id, part.value, names.category(part.category_id)) for part in free]


def show_candidates(visit: Visit, row: Transaction, legs: list[Leg], names: Names, form: Typed) -> HttpResponse:
    query = visit.request.GET
    any_amount = query.get("amounts", "equal")
    if query.get("days", str(USUAL_DAYS)) not in {str(each) for each in DAYS} or any_amount not in ("equal", "any"):
        raise Http404
    days = int(query.get("days", USUAL_DAYS))
    leg = chosen_leg(legs, query.get("part"))
    rows: list[Any] = []
    if leg:
        try:
            rows = candidates(
                company=visit.company, source=row, value=leg.value, days=days, any_amount=any_amount == "any"
            )
        except NoRate as missing:
            form.refuse(missing)
    return visit.show(
        "ledger/transactions/link_transfer.html",
        status=200 if form.valid else 400,
        tab="transactions",
        row=row,
        **ways(visit, row.id),
        then=query.get("then", ""),
        account=names.account(row.account_id),
        legs=legs,
        leg=leg,
        form=form,
        days=days,
        all_days=DAYS,
        amounts=any_amount,
        candidates=[{"row": each, "key": str(each.id), "account": names.account(each.account_id)} for each in rows],
    )


def chosen_leg(legs: list[Leg], key: str | None) -> Leg | None:
    """The leg of the address, the first where it names none. Raises Http404 for one that there is not."""
    if key is None:
        return legs[0] if legs else None
    for leg in legs:
        if leg.key == key:
            return leg
    raise Http404

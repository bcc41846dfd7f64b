"""The groups that accounts are shown in: new, changed, moved, deleted, and which account stands in which."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.changing import changing
from companies.errors import FieldErrors
from companies.models import id_from
from companies.pages.amounts import number
from companies.pages.typed import Typed, of_body, whole
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.accounts import opening
from ledger.accounts.serializers import AccountGroupShape
from ledger.models import Account, AccountGroup

READ, WRITE = Permission.ACCOUNTS_READ, Permission.ACCOUNTS_WRITE


@company_page(reads=READ, writes=WRITE)
def everything(visit: Visit) -> HttpResponse:
    """The groups in their order and the accounts, each with its group; the form moves accounts."""
    form = Typed(values={})
    if visit.sent:
        with visit.sending(form):
            moved = move_accounts(visit, visit.request.POST)
            said = ngettext("{n} account moved.", "{n} accounts moved.", moved)
            return visit.done(said.format(n=number(moved)), "account-groups")
    return show(visit, form)


def show(visit: Visit, form: Typed) -> HttpResponse:
    groups = list(AccountGroup.objects.of(visit.company.id).in_order())
    accounts = list(Account.objects.of(visit.company.id).in_order())
    inside = [account.account_group_id for account in accounts]
    return visit.show(
        "ledger/accounts/account_groups.html",
        status=400 if form.errors else 200,
        tab="accounts",
        form=form,
        rows=[
            {
                "row": group,
                "accounts": inside.count(group.id),
                "first": place == 0,
                "last": place == len(groups) - 1,
            }
            for place, group in enumerate(groups)
        ],
        accounts=[(account, str(account.account_group_id or "")) for account in accounts],
        choices=[(str(group.id), group_choice(group)) for group in groups],
        writes=visit.may(WRITE),
    )


def group_choice(group: AccountGroup) -> str:
    return _("{name} (archived)").format(name=group.name) if group.archived else group.name


def move_accounts(visit: Visit, posted: Mapping[str, str]) -> int:
    """Puts each account into the group that was chosen, where another was shown; returns how many moved.

    Those that were left as they were shown stay, also where somebody else has moved them meanwhile. Raises FieldErrors.
    """
    moved = 0
    with changing(visit.company, stamp=visit.stamp):
        for account in Account.objects.of(visit.company.id):
            shown, chosen = (posted.get(f"{name}-{account.id}", "") for name in ("was", "group"))
            if shown != chosen:
                values = {"account_group_id": group_id(chosen)}
                opening.change_account(
                    company=visit.company,
                    stamp=visit.stamp,
                    account_id=account.id,
                    values=values,
                    action="account.groupChanged",
                )
                moved += 1
    return moved


def group_id(text: str) -> UUID | None:
    """Raises FieldErrors for what is no id."""
    found = id_from(text) if text else None
    if text and found is None:
        raise FieldErrors([("#/accountGroupId", "unknown_id", _("There is no such group."))])
    return found


# ---------------------------------------------------------------------------------------------- one group


@company_page(reads=WRITE, writes=WRITE)
def new(visit: Visit) -> HttpResponse:
    if not visit.sent:
        last = AccountGroup.objects.of(visit.company.id).in_order().last()
        return form_page(visit, Typed(values={"name": "", "order": last.order + 1 if last else 0, "archived": False}))
    form = read(visit)
    if form.valid:
        with visit.sending(form):
            group = opening.add_group(company=visit.company, stamp=visit.stamp, values=form.data)
            return visit.done(_("{name} was added.").format(name=group.name), "account-groups")
    return form_page(visit, form)


@company_page(reads=WRITE, writes=WRITE)
def edit(visit: Visit, group_id: UUID) -> HttpResponse:
    group = get_object_or_404(AccountGroup.objects.of(visit.company.id), id=group_id)
    if not visit.sent:
        values = {"name": group.name, "order": group.order, "archived": group.archived}
        return form_page(visit, Typed(values=values), group=group)
    form = read(visit)
    if form.valid:
        with visit.sending(form):
            group = opening.update_group(company=visit.company, stamp=visit.stamp, group_id=group_id, values=form.data)
            return visit.done(_("{name} was saved.").format(name=group.name), "account-groups")
    return form_page(visit, form, group=group)


def read(visit: Visit) -> Typed:
    posted = visit.request.POST
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in ("name", "order")}
    values["archived"] = "archived" in posted
    return of_body(AccountGroupShape, values | {"order": whole(values["order"])}, values=values)


def form_page(visit: Visit, form: Typed, *, group: AccountGroup | None = None) -> HttpResponse:
    return visit.show(
        "ledger/accounts/account_group_form.html",
        status=400 if form.errors else 200,
        tab="accounts",
        form=form,
        group=group,
        seen=visit.seen(group) if group else "",
    )


@company_page(writes=WRITE)
def move(visit: Visit, group_id: UUID) -> HttpResponse:
    """One place up or down."""
    down = visit.request.POST.get("to") == "down"
    with visit.sending():
        opening.move_group(company=visit.company, stamp=visit.stamp, group_id=group_id, down=down)
        return visit.to("account-groups")
    return visit.to("account-groups")


@company_page(writes=WRITE)
def delete(visit: Visit, group_id: UUID) -> HttpResponse:
    """Deletes a group in which no account stands."""
    with visit.sending():
        opening.delete_group(company=visit.company, stamp=visit.stamp, group_id=group_id)
        return visit.done(_("The group was deleted."), "account-groups")
    return visit.to("account-groups")

"""Pages: account groups (list, create, edit, move, delete) and the form that moves accounts between them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.change import change_company
from companies.errors import ValidationFailed
from companies.models import parse_id
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_body, parse_integer
from companies.permissions import Permission
from ledger.accounts import actions
from ledger.accounts.serializers import AccountGroupSerializer
from ledger.models import Account, AccountGroup

READ, WRITE = Permission.ACCOUNTS_READ, Permission.ACCOUNTS_WRITE


@company_page(reads=READ, writes=WRITE)
def show_account_groups(page: CompanyPage) -> HttpResponse:
    """Show the account groups in their order and the accounts with their group; the form moves accounts."""
    form = BoundForm(values={})
    if page.is_post:
        with page.handle_errors(form):
            moved_count = move_accounts_to_groups(page, page.request.POST)
            message = ngettext("{n} account moved.", "{n} accounts moved.", moved_count)
            return page.redirect_with_message(message.format(n=format_count(moved_count)), "account-groups")
    return render_account_groups(page, form)


def render_account_groups(page: CompanyPage, form: BoundForm) -> HttpResponse:
    """Render the list of account groups, with status 400 if the form has errors."""
    groups = list(AccountGroup.objects.for_company(page.company.id).in_display_order())
    accounts = list(Account.objects.for_company(page.company.id).in_display_order())
    group_ids = [account.account_group_id for account in accounts]
    return page.render(
        "ledger/accounts/account_groups.html",
        status=400 if form.errors else 200,
        tab="accounts",
        form=form,
        rows=[
            {
                "row": group,
                "accounts": group_ids.count(group.id),
                "first": position == 0,
                "last": position == len(groups) - 1,
            }
            for position, group in enumerate(groups)
        ],
        accounts=[(account, str(account.account_group_id or "")) for account in accounts],
        choices=[(str(group.id), format_group_label(group)) for group in groups],
        writes=page.has_permission(WRITE),
    )


def format_group_label(group: AccountGroup) -> str:
    """Return the name of a group, marked if it is archived."""
    return _("{name} (archived)").format(name=group.name) if group.archived else group.name


def move_accounts_to_groups(page: CompanyPage, posted: Mapping[str, str]) -> int:
    """Move each account to the posted group if that differs from the one shown, and return how many moved.

    Accounts whose choice was not changed stay where they are, even if another user has moved them since.

    Raises:
        ValidationFailed: `unknown_id`.
    """
    moved_count = 0
    with change_company(page.company, context=page.audit_context):
        for account in Account.objects.for_company(page.company.id):
            shown_group, chosen_group = (posted.get(f"{name}-{account.id}", "") for name in ("was", "group"))
            if shown_group != chosen_group:
                values = {"account_group_id": parse_group_id(chosen_group)}
                actions.update_account(
                    company=page.company,
                    context=page.audit_context,
                    account_id=account.id,
                    values=values,
                    action="account.groupChanged",
                )
                moved_count += 1
    return moved_count


def parse_group_id(text: str) -> UUID | None:
    """Parse the id of an account group; None for an empty text.

    Raises:
        ValidationFailed: `unknown_id` if it is no id.
    """
    parsed_id = parse_id(text) if text else None
    if text and parsed_id is None:
        raise ValidationFailed([("#/accountGroupId", "unknown_id", _("This group does not exist."))])
    return parsed_id


# ---------------------------------------------------------------------------------------------- one group


@company_page(reads=WRITE, writes=WRITE)
def create_account_group_page(page: CompanyPage) -> HttpResponse:
    """Create an account group."""
    if not page.is_post:
        last_group = AccountGroup.objects.for_company(page.company.id).in_display_order().last()
        return render_account_group_form(
            page, BoundForm(values={"name": "", "order": last_group.order + 1 if last_group else 0, "archived": False})
        )
    form = bind_account_group_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            group = actions.create_account_group(company=page.company, context=page.audit_context, values=form.data)
            return page.redirect_with_message(_("{name} added.").format(name=group.name), "account-groups")
    return render_account_group_form(page, form)


@company_page(reads=WRITE, writes=WRITE)
def edit_account_group_page(page: CompanyPage, group_id: UUID) -> HttpResponse:
    """Edit an account group."""
    group = get_object_or_404(AccountGroup.objects.for_company(page.company.id), id=group_id)
    if not page.is_post:
        values = {"name": group.name, "order": group.order, "archived": group.archived}
        return render_account_group_form(page, BoundForm(values=values), group=group)
    form = bind_account_group_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            group = actions.update_account_group(
                company=page.company, context=page.audit_context, group_id=group_id, values=form.data
            )
            return page.redirect_with_message(_("{name} saved.").format(name=group.name), "account-groups")
    return render_account_group_form(page, form, group=group)


def bind_account_group_form(page: CompanyPage) -> BoundForm:
    """Bind the posted account group form."""
    posted = page.request.POST
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in ("name", "order")}
    values["archived"] = "archived" in posted
    return bind_body(AccountGroupSerializer, values | {"order": parse_integer(values["order"])}, values=values)


def render_account_group_form(page: CompanyPage, form: BoundForm, *, group: AccountGroup | None = None) -> HttpResponse:
    """Render the account group form, with status 400 if it has errors."""
    return page.render(
        "ledger/accounts/account_group_form.html",
        status=400 if form.errors else 200,
        tab="accounts",
        form=form,
        group=group,
        seen=page.get_seen_version(group) if group else "",
    )


@company_page(writes=WRITE)
def move_account_group_page(page: CompanyPage, group_id: UUID) -> HttpResponse:
    """Move an account group up or down by one position."""
    down = page.request.POST.get("to") == "down"
    with page.handle_errors():
        actions.move_account_group(company=page.company, context=page.audit_context, group_id=group_id, down=down)
        return page.redirect("account-groups")
    return page.redirect("account-groups")


@company_page(writes=WRITE)
def delete_account_group_page(page: CompanyPage, group_id: UUID) -> HttpResponse:
    """Delete an account group that has no accounts."""
    with page.handle_errors():
        actions.delete_account_group(company=page.company, context=page.audit_context, group_id=group_id)
        return page.redirect_with_message(_("Group deleted."), "account-groups")
    return page.redirect("account-groups")

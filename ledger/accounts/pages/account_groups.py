"""Pages: account groups (list, create, edit, move, delete) and the form that moves accounts between them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.change import change_company
from companies.errors import ValidationFailed
from companies.models import parse_id
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.pages.row_pages import RowPages
from companies.permissions import Permission
from ledger.accounts.actions import account_groups
from ledger.accounts.actions import accounts as account_actions
from ledger.accounts.serializers.account_groups import AccountGroupSerializer
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
                account_actions.update_account(
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


class AccountGroupPages(RowPages[AccountGroup]):
    model, permission = AccountGroup, WRITE
    place, list_url = {"tab": "accounts"}, "account-groups"
    create_action, update_action = account_groups.create_account_group, account_groups.update_account_group
    delete_action, id_argument = account_groups.delete_account_group, "group_id"
    template, new_title = "ledger/accounts/account_group_form.html", gettext_lazy("New group")
    deleted_message = gettext_lazy("Group deleted.")
    serializer, texts, flags, integers = AccountGroupSerializer, ("name", "order"), ("archived",), ("order",)

    def build_initial_values(self, page: CompanyPage) -> dict[str, Any]:
        last_group = AccountGroup.objects.for_company(page.company.id).in_display_order().last()
        return {"name": "", "order": last_group.order + 1 if last_group else 0, "archived": False}

    def build_row_values(self, row: AccountGroup) -> dict[str, Any]:
        return {"name": row.name, "order": row.order, "archived": row.archived}


create_account_group_page, edit_account_group_page = AccountGroupPages().build_form_views()
delete_account_group_page = AccountGroupPages().build_delete_view()


@company_page(writes=WRITE)
def move_account_group_page(page: CompanyPage, group_id: UUID) -> HttpResponse:
    """Move an account group up or down by one position."""
    down = page.request.POST.get("to") == "down"
    with page.handle_errors():
        account_groups.move_account_group(
            company=page.company, context=page.audit_context, group_id=group_id, down=down
        )
        return page.redirect("account-groups")
    return page.redirect("account-groups")

"""Edit conflicts: detect and describe changes by others while a page with a form was open."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.audit.field_labels import get_field_label
from companies.audit.names import find_actor_names
from companies.locales import get_current_locale
from companies.pages.amount_formats import format_count, format_money
from companies.pages.concurrent_change import ConcurrentChange
from companies.pages.context import CompanyPage
from companies.versions import compute_version
from ledger.models import Categorization, Transaction
from ledger.transactions.fields import TRANSACTION_TEXTS
from ledger.transactions.pages.labels import join_texts, load_visible_names
from ledger.transactions.pages.transaction_form import build_transaction_form_values

MAX_CATEGORIZATIONS = 4


def check_not_changed(page: CompanyPage, rows: Any) -> None:
    """Check that the transactions are as the form's page showed them.

    The form sends back a `version` for each row it shows. Call this inside the change, where nobody else can
    change them.

    Raises:
        ConcurrentChange: a transaction has another version.
    """
    versions = frozenset(page.request.POST.getlist("version"))
    if versions and (changed := find_changed_transactions(rows, versions)):
        raise ConcurrentChange(describe_concurrent_changes(page, changed))


def find_changed_transactions(rows: Any, versions: Collection[str]) -> list[Transaction]:
    """Return the transactions whose version is not one of the given ones."""
    transactions = rows.only(
        "id", "last_updated_time", "last_updated_user_id", "from_to", "description", "amount_currency"
    )
    return [row for row in transactions if compute_version(row) not in versions]


def describe_concurrent_changes(page: CompanyPage, rows: list[Transaction]) -> str:
    """Describe who changed which transactions, and that nothing was overwritten."""
    if len(rows) == 1:
        return " ".join(
            (
                describe_last_change(page, rows[0]),
                _("Your change was not saved. Review the current version and try again."),
            )
        )
    message = ngettext(
        "{n} of the transactions has changed in the meantime.",
        "{n} of the transactions have changed in the meantime.",
        len(rows),
    )
    advice = _("Your change was not saved. Review the transactions and try again.")
    return " ".join((message.format(n=format_count(len(rows))), advice))


def describe_last_change(page: CompanyPage, row: Transaction) -> str:
    """Describe who changed a transaction last, and its categorizations now."""
    actor = row.last_updated_user_id or ""
    actor_name = find_actor_names(page, {actor} - {""}).get(actor, _("System"))
    categorizations = format_categorizations(page, row.id, row.amount_currency)
    if categorizations:
        template = _("{who} has categorized “{title}” in the meantime: {parts}.")
    else:
        template = _("{who} has changed “{title}” in the meantime.")
    title = row.from_to or row.description or _("No text")
    return capfirst(template.format(who=actor_name, title=title[:80], parts=categorizations))


def describe_current_values(page: CompanyPage, row: Transaction, typed_values: Mapping[str, Any]) -> str:
    """Describe the stored values of fields that differ from what was typed."""
    stored_values = build_transaction_form_values(row)
    shown_values = {
        "date": get_current_locale().format_day(row.date),
        "amountValue": format_money(row.amount_value, row.amount_currency),
        "accountId": load_visible_names(page).get_account_name(row.account_id),
        "fromTo": row.from_to,
        "description": row.description,
        **{text.name: getattr(row, text.column) or "" for text in TRANSACTION_TEXTS},
    }
    columns = {text.name: text.column for text in TRANSACTION_TEXTS}
    labels = {"amountValue": "amount_value", "accountId": "account_id", "fromTo": "from_to"} | columns
    nothing = _("none")
    differences = [
        f"{get_field_label(labels.get(name, name))} {text or nothing}"
        for name, text in shown_values.items()
        if stored_values[name] != typed_values.get(name)
    ]
    return _("Current values: {fields}.").format(fields=join_texts(differences)) if differences else ""


def format_categorizations(page: CompanyPage, transaction_id: UUID, currency: str) -> str:
    """Format a transaction's categorizations, such as: Hosting −€60.00 and Office −€40.00."""
    categorizations = Categorization.objects.for_company(page.company.id).filter(transaction_id=transaction_id)
    rows = list(categorizations.order_by("position", "id").values_list("category_id", "value"))
    if not rows:
        return ""
    ledger_names = load_visible_names(page)
    texts = [
        f"{ledger_names.get_category_name(category_id)} {format_money(value, currency)}"
        for category_id, value in rows[:MAX_CATEGORIZATIONS]
    ]
    if len(rows) > MAX_CATEGORIZATIONS:
        texts.append(_("{n} more").format(n=format_count(len(rows) - MAX_CATEGORIZATIONS)))
    return join_texts(texts)

"""Create, update, move, replace and delete categories, and the default categories of a new company."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.postgres.aggregates import BoolOr
from django.db.models import Q

from companies.change import CompanyChange, change_company
from companies.closed_periods import PeriodClosed
from companies.errors import ConflictError, InvalidInputError, build_unknown_id_error
from companies.models import AuditContext, Company, IdIn
from ledger import hooks
from ledger.categorization.actions import rule_references
from ledger.models import (
    DEFAULT_CATEGORIES,
    FINANCING_SYSTEM_KEYS,
    Account,
    Categorization,
    Category,
    CategoryInUse,
    Posting,
    Transaction,
)
from ledger.transactions.actions.audit_links import link_audit_entry


class CategoryIsSystem(ConflictError):
    """System categories cannot be deleted, and their P&L lines cannot be changed."""

    code = "category_is_system"


class PlTypeInUse(ConflictError):
    """Transactions or plan items use a P&L line that you are removing."""

    code = "pl_type_in_use"


class ReplacementPlTypeNotAllowed(InvalidInputError):
    """The replacement category lacks P&L lines that are in use. Choose another one."""

    code = "pl_type_not_allowed"


def create_default_categories(*, company: Company, context: AuditContext) -> None:
    """Create the system categories of a new company."""
    rows = [
        Category(
            company=company,
            name=name,
            emoji=emoji,
            pl_types=[pl_type],
            system=True,
            system_key=key,
            financing=key in FINANCING_SYSTEM_KEYS,
        )
        for pl_type, entries in DEFAULT_CATEGORIES.items()
        for key, name, emoji in entries
    ]
    for order, row in enumerate(rows):
        row.order = order
        row.mark_created(context)
    Category.objects.bulk_create(rows)


def create_category(*, company: Company, context: AuditContext, values: dict[str, Any]) -> Category:
    """Create a category of the company's own."""
    with change_company(company, context=context) as change:
        return change.create(Category(company=company, **values), "category.created")


def append_categories(*, company: Company, context: AuditContext, rows: Iterable[dict[str, Any]]) -> list[Category]:
    """Create categories of the company's own after the others, in their order."""
    with change_company(company, context=context) as change:
        last = Category.objects.for_company(company.id).in_display_order().last()
        categories = [
            Category(company=company, **values, order=order)
            for order, values in enumerate(rows, last.order + 1 if last else 0)
        ]
        change.create_many(categories, "category.created")
    return categories


def update_category(
    *, company: Company, context: AuditContext, category_id: UUID | str, values: dict[str, Any]
) -> Category:
    """Update a category.

    Raises:
        NotFoundError, PreconditionFailed, CategoryIsSystem.
        PlTypeInUse: a P&L line that transactions or plan items use would be removed.
    """
    with change_company(company, context=context) as change:
        category = change.lock(Category, category_id)
        removed_pl_types = set(category.pl_types) - set(values.get("pl_types", category.pl_types))
        added_pl_types = set(values.get("pl_types", ())) - set(category.pl_types)
        if category.system and (removed_pl_types or added_pl_types):
            raise CategoryIsSystem
        if removed_pl_types & find_used_pl_types(category):
            raise PlTypeInUse
        change.update(category, "category.updated", **values)
        if removed_pl_types:
            hooks.category_lines_changed.run(company=company, category=category, context=context)
            rule_references.disable_rules_of_lost_lines(company=company, category=category, context=context)
    return category


def move_category(*, company: Company, context: AuditContext, category_id: UUID, down: bool) -> Category:
    """Move a category one position up or down. Raises NotFoundError."""
    with change_company(company, context=context) as change:
        rows = Category.objects.for_company(company.id).in_display_order()
        return change.move_row(rows, category_id, action="category.updated", move_down=down)


def delete_category(
    *, company: Company, context: AuditContext, category_id: UUID | str, replace_with: UUID | None = None
) -> None:
    """Delete a category; with `replace_with`, replace it everywhere by another category first.

    Raises:
        NotFoundError, PreconditionFailed, CategoryIsSystem, CategoryInUse, ValidationFailed (unknown_id).
        ReplacementPlTypeNotAllowed: the replacement lacks a P&L line that is in use.
    """
    with change_company(company, context=context) as change:
        category = change.lock(Category, category_id)
        if category.system:
            raise CategoryIsSystem
        if replace_with is not None:
            replace_category(change, category=category, replacement_id=replace_with)
        elif Categorization.objects.for_company(company.id).filter(category=category).exists():
            raise CategoryInUse
        Account.objects.for_company(company.id).filter(default_category=category).update(
            default_category=None, last_updated_time=context.time, last_updated_user_id=context.actor
        )
        rule_references.disable_rules_of_category(company=company, category_id=category.id, context=context)
        change.delete(category, "category.deleted")


def replace_category(change: CompanyChange, *, category: Category, replacement_id: UUID) -> None:
    """Replace a category by another one wherever it is used, in a constant number of statements."""
    company, context = change.company, change.context
    replacement = Category.objects.for_company(company.id).exclude(id=category.id).filter(id=replacement_id).first()
    if replacement is None:
        raise build_unknown_id_error("#/replaceWith")
    if find_used_pl_types(category) - set(replacement.pl_types):
        raise ReplacementPlTypeNotAllowed(pointer="#/replaceWith")
    categorizations = Categorization.objects.for_company(company.id).filter(category=category)
    transaction_ids = list(categorizations.values_list("transaction_id", flat=True))
    postings = Posting.objects.for_company(company.id).filter(category_id=category.id)
    if company.closed_through is not None and postings.filter(month__lte=company.closed_through).exists():
        raise PeriodClosed.for_company(company, "#/replaceWith")
    Transaction.objects.for_company(company.id).filter(IdIn("id", categorizations.values("transaction_id"))).update(
        last_updated_time=context.time, last_updated_user_id=context.actor
    )
    Posting.objects.for_company(company.id).filter(IdIn("categorization_id", categorizations.values("id"))).update(
        category_id=replacement.id
    )
    categorizations.update(category=replacement)
    Account.objects.for_company(company.id).filter(default_category=category).update(
        default_category=replacement, last_updated_time=context.time, last_updated_user_id=context.actor
    )
    rule_references.move_rules_to_category(
        company=company, category_id=category.id, replacement_id=replacement.id, context=context
    )
    hooks.category_replaced.run(
        company=company, category_id=category.id, replacement_id=replacement.id, context=context
    )
    entry = change.record(category, "category.replaced", after={"replaced_with": str(replacement.id)})
    link_audit_entry(change, entry, transaction_ids)


def find_used_pl_types(category: Category) -> set[str]:
    """Return the P&L lines that categorizations of the category post to; one query."""
    rows = Categorization.objects.for_company(category.company_id).filter(category=category)
    flags = rows.aggregate(
        **{f"has_{pl_type}": BoolOr(Q(**{f"{pl_type}__isnull": False})) for pl_type in category.pl_types}
    )
    return {pl_type for pl_type in category.pl_types if flags[f"has_{pl_type}"]}

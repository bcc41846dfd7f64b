"""Categories: the default set of a company, and adding, changing, replacing and deleting them."""

from typing import Any
from uuid import UUID

from django.contrib.postgres.aggregates import BoolOr
from django.db import connection
from django.db.models import Q

from companies.changing import Change, changing
from companies.errors import Conflict, Invalid, unknown_id
from companies.models import Company, Stamp
from ledger import hooks
from ledger.models import FINANCING_KEYS, STARTING_CATEGORIES, Account, Categorization, Category, CategoryInUse
from ledger.purposes import rule_references
from ledger.transactions.touching import touched


class CategoryIsSystem(Conflict):
    """A system category can be renamed and reordered; it is never deleted and its lines stay."""

    code = "category_is_system"


class PlTypeInUse(Conflict):
    """Transactions or plan items post to a line that the category would lose."""

    code = "pl_type_in_use"


class ReplacementLacksLine(Invalid):
    """The category to put in place does not post to the lines that are in use."""

    code = "pl_type_not_allowed"


def add_defaults(*, company: Company, stamp: Stamp) -> None:
    """Gives a new company its system categories."""
    rows = [
        Category(
            company=company,
            name=name,
            emoji=emoji,
            pl_types=[line],
            system=True,
            system_key=key,
            financing=key in FINANCING_KEYS,
        )
        for line, entries in STARTING_CATEGORIES.items()
        for key, name, emoji in entries
    ]
    for order, row in enumerate(rows):
        row.order = order
        row.stamp_new(stamp)
    Category.objects.bulk_create(rows)


def add(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Category:
    """A category of the company's own."""
    with changing(company, stamp=stamp) as change:
        return change.create(Category(company=company, **values), "category.created")


def change(*, company: Company, stamp: Stamp, category_id: UUID | str, values: dict[str, Any]) -> Category:
    """Stores changed facts. Raises Missing, Stale, CategoryIsSystem, PlTypeInUse."""
    with changing(company, stamp=stamp) as change:
        category = change.locked(Category, category_id)
        lost = set(category.pl_types) - set(values.get("pl_types", category.pl_types))
        gained = set(values.get("pl_types", ())) - set(category.pl_types)
        if category.system and (lost or gained):
            raise CategoryIsSystem
        if lost & lines_in_use(category):
            raise PlTypeInUse
        change.update(category, "category.updated", **values)
        if lost:
            hooks.category_lines_changed.run(company=company, category=category, stamp=stamp)
            rule_references.disable_rules_of_lost_lines(company=company, category=category, stamp=stamp)
    return category


def move(*, company: Company, stamp: Stamp, category_id: UUID, down: bool) -> Category:
    """Moves a category one place up or down among all of them. Raises Missing."""
    with changing(company, stamp=stamp) as change:
        rows = Category.objects.of(company.id).in_order()
        return change.step(rows, category_id, action="category.updated", down=down)


def delete(*, company: Company, stamp: Stamp, category_id: UUID | str, replace_with: UUID | None = None) -> None:
    """Deletes a category, after putting another in its place where one is named.

    Raises Missing, Stale, CategoryIsSystem, CategoryInUse, FieldErrors (unknown_id) and ReplacementLacksLine.
    """
    with changing(company, stamp=stamp) as change:
        category = change.locked(Category, category_id)
        if category.system:
            raise CategoryIsSystem
        if replace_with is not None:
            replace(change, category=category, replacement_id=replace_with)
        elif Categorization.objects.of(company.id).filter(category=category).exists():
            raise CategoryInUse
        Account.objects.of(company.id).filter(default_category=category).update(
            default_category=None, last_updated_time=stamp.time, last_updated_user_id=stamp.actor
        )
        rule_references.disable_rules_of_category(company=company, category_id=category.id, stamp=stamp)
        change.delete(category, "category.deleted")


def replace(change: Change, *, category: Category, replacement_id: UUID) -> None:
    """Puts another category in the place of one, wherever it stands; a constant number of statements."""
    company, stamp = change.company, change.stamp
    found = Category.objects.of(company.id).exclude(id=category.id).filter(id=replacement_id).first()
    if found is None:
        raise unknown_id("#/replaceWith")
    if lines_in_use(category) - set(found.pl_types):
        raise ReplacementLacksLine(pointer="#/replaceWith")
    parts = Categorization.objects.of(company.id).filter(category=category)
    ids = list(parts.values_list("transaction_id", flat=True))
    names = {"old": category.id, "new": found.id, "company": company.id}
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ledger_transaction SET last_updated_time = %(time)s, last_updated_user_id = %(actor)s "
            "WHERE company_id = %(company)s AND id IN (SELECT transaction_id FROM ledger_categorization "
            "WHERE company_id = %(company)s AND category_id = %(old)s)",
            names | {"time": stamp.time, "actor": stamp.actor},
        )
        cursor.execute(
            "UPDATE ledger_posting SET category_id = %(new)s WHERE company_id = %(company)s AND categorization_id IN "
            "(SELECT id FROM ledger_categorization WHERE company_id = %(company)s AND category_id = %(old)s)",
            names,
        )
    parts.update(category=found)
    Account.objects.of(company.id).filter(default_category=category).update(
        default_category=found, last_updated_time=stamp.time, last_updated_user_id=stamp.actor
    )
    rule_references.move_rules_to_category(
        company=company, category_id=category.id, replacement_id=found.id, stamp=stamp
    )
    hooks.category_replaced.run(company=company, category_id=category.id, replacement_id=found.id, stamp=stamp)
    entry = change.record(category, "category.replaced", after={"replaced_with": str(found.id)})
    touched(change, entry, ids)


def lines_in_use(category: Category) -> set[str]:
    """The lines that parts of transactions post to under the category; one query."""
    rows = Categorization.objects.of(category.company_id).filter(category=category)
    flags = rows.aggregate(**{f"has_{line}": BoolOr(Q(**{f"{line}__isnull": False})) for line in category.pl_types})
    return {line for line in category.pl_types if flags[f"has_{line}"]}

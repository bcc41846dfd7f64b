"""Changes of many rows: stored and logged as changes of single ones are, in few statements."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companies.change import change_company
from companies.models import AuditEntry
from ledger.models import Account, AccountGroup
from ledger.models.accounts import AccountGroupNotEmpty

pytestmark = pytest.mark.django_db


def create_groups(company, context, names):
    groups = [AccountGroup(company=company, name=name) for name in names]
    with change_company(company, context=context) as change:
        change.create_many(groups, "accountGroup.created")
    return groups


def list_entries(company, action):
    """(id, before, after) of each audit entry."""
    entries = AuditEntry.objects.for_company(company.id).filter(action=action).order_by("id")
    return [(entry.entity_id, entry.before, entry.after) for entry in entries]


def test_rows_are_created_with_an_audit_entry_each(acme, alice, audit_context):
    groups = create_groups(acme, replace(audit_context, actor=str(alice.id)), ["Banks", "Cash"])
    stored = AccountGroup.objects.for_company(acme.id).order_by("name")
    assert [(row.name, row.created_user_id) for row in stored] == [("Banks", str(alice.id)), ("Cash", str(alice.id))]
    entries = list_entries(acme, "accountGroup.created")
    assert [(row_id, before, after["name"]) for row_id, before, after in entries] == [
        (str(group.id), None, group.name) for group in groups
    ]


def test_only_rows_that_differ_are_updated_and_logged(acme, audit_context):
    banks, cash, cards = create_groups(acme, audit_context, ["Banks", "Cash", "Cards"])
    later = replace(audit_context, time=audit_context.time + timedelta(hours=1))
    with change_company(acme, context=later) as change:
        change.update_many(
            [(banks, {"name": "Savings"}), (cash, {"name": "Cash"}), (cards, {"name": "Loans", "order": 7})],
            "accountGroup.updated",
        )
    stored = {row.name: row.last_updated_time for row in AccountGroup.objects.for_company(acme.id)}
    assert stored == {"Savings": later.time, "Cash": audit_context.time, "Loans": later.time}
    assert AccountGroup.objects.get(id=cards.id).order == 7
    assert list_entries(acme, "accountGroup.updated") == [
        (str(banks.id), {"name": "Banks"}, {"name": "Savings"}),
        (str(cards.id), {"name": "Cards", "order": 0}, {"name": "Loans", "order": 7}),
    ]


def test_rows_are_deleted_with_an_audit_entry_each(acme, audit_context):
    banks, cash, cards = create_groups(acme, audit_context, ["Banks", "Cash", "Cards"])
    with change_company(acme, context=audit_context) as change:
        change.delete_many([banks, cards], "accountGroup.deleted")
    assert [row.name for row in AccountGroup.objects.for_company(acme.id)] == [cash.name]
    entries = list_entries(acme, "accountGroup.deleted")
    assert [(row_id, before["name"], after) for row_id, before, after in entries] == [
        (str(banks.id), "Banks", None),
        (str(cards.id), "Cards", None),
    ]


def test_none_is_deleted_if_one_is_referenced(acme, audit_context):
    groups = create_groups(acme, audit_context, ["Banks", "Cash"])
    inside = Account(company=acme, account_group=groups[0], type="bank", name="Main", default_currency="EUR")
    inside.include_in_cash_balance = True
    inside.mark_created(audit_context).save(force_insert=True)
    with pytest.raises(AccountGroupNotEmpty), change_company(acme, context=audit_context) as change:
        change.delete_many(groups, "accountGroup.deleted")
    assert AccountGroup.objects.for_company(acme.id).count() == 2
    assert list_entries(acme, "accountGroup.deleted") == []


def test_rows_of_another_company_stay(acme, globex, audit_context):
    [group] = create_groups(globex, audit_context, ["Banks"])
    with change_company(acme, context=audit_context) as change:
        change.update_many([(group, {"name": "Cash"})], "accountGroup.updated")
        change.delete_many([group], "accountGroup.deleted")
    assert AccountGroup.objects.get(id=group.id).name == "Banks"


def test_number_of_statements_does_not_depend_on_the_rows(acme, audit_context):
    counts = []
    for rows in (1, 300):
        with CaptureQueriesContext(connection) as queries:
            groups = create_groups(acme, audit_context, [f"Group {number}" for number in range(rows)])
            with change_company(acme, context=audit_context) as change:
                change.update_many([(group, {"name": group.name.upper()}) for group in groups], "accountGroup.updated")
                change.delete_many(groups, "accountGroup.deleted")
        counts.append(len(queries))
    assert counts[0] == counts[1]

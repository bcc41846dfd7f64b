"""One way to change something: what every change of a company's data keeps to, whatever it changes."""

import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from companies.change import ConcurrentChangeRace, ConstraintConflict, change_company
from companies.errors import NotFoundError
from companies.models import AuditEntry, Company, Membership, User, snapshot_row
from companies.models.memberships import AlreadyInvited
from companies.versions import ANY_VERSION, PreconditionFailed, compute_version
from ledger.models import Account, AccountGroup
from ledger.models.accounts import AccountGroupNotEmpty

pytestmark = pytest.mark.django_db


@pytest.fixture
def group(api):
    made = api.post("account_groups", {"name": "Banks"}).json()["id"]
    return AccountGroup.objects.get(id=made)


def run_in_other_connection(act):
    """What another connection gets to see meanwhile."""
    results: list[Any] = []

    def run():
        try:
            with transaction.atomic():
                results.append(act())
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


def is_row_free(rows, row):
    """Whether nobody holds the row; the rows are those of one company, else a cluster locks none."""
    return run_in_other_connection(lambda: rows.select_for_update(skip_locked=True).filter(id=row.id).exists())


# ---------------------------------------------------------------------------------------------- what is held


@pytest.mark.django_db(transaction=True)
def test_locked_row_is_unavailable_to_others_until_change_ends(acme, group, audit_context):
    with change_company(acme, context=audit_context) as change:
        assert is_row_free(AccountGroup.objects.for_company(acme.id), group)
        change.lock(AccountGroup, group.id)
        assert not is_row_free(AccountGroup.objects.for_company(acme.id), group)
    assert is_row_free(AccountGroup.objects.for_company(acme.id), group)


@pytest.mark.django_db(transaction=True)
def test_locked_company_row_is_unavailable_to_others_until_change_ends(acme, audit_context):
    with change_company(acme, context=audit_context) as change:
        change.lock_company_row()
        assert not is_row_free(Company.objects, acme)
    assert is_row_free(Company.objects, acme)


@pytest.mark.django_db(transaction=True)
def test_lock_excludes_related_rows(acme, alice, audit_context):
    members = Membership.objects.select_related("user")
    mine = members.get(company=acme, user=alice)
    with change_company(acme, context=audit_context) as change:
        change.lock(members, mine.id)
        assert not is_row_free(Membership.objects.for_company(acme.id), mine)
        assert is_row_free(User.objects, alice)


TRY_COMPANY_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"


def is_company_lock_free(company):
    def ask():
        with connection.cursor() as cursor:
            cursor.execute(TRY_COMPANY_LOCK, [f"ledger:{company.id}"])
            return cursor.fetchone()[0]

    return run_in_other_connection(ask)


@pytest.mark.django_db(transaction=True)
def test_company_lock_is_held_until_change_ends_for_that_company_only(acme, globex, audit_context):
    with change_company(acme, context=audit_context):
        assert not is_company_lock_free(acme)
        assert is_company_lock_free(globex)
    assert is_company_lock_free(acme)


@pytest.mark.django_db(transaction=True)
def test_company_row_can_be_updated_but_not_deleted_during_change(acme, audit_context):
    with change_company(acme, context=audit_context):
        assert not is_row_free(Company.objects, acme)  # nobody could delete it
        assert run_in_other_connection(lambda: Company.objects.filter(id=acme.id).update(name="New")) == 1


# ---------------------------------------------------------------------------------------------- which row it is


def test_lock_finds_row_by_uuid_or_its_text(acme, group, audit_context):
    with change_company(acme, context=audit_context) as change:
        other = change.create(AccountGroup(company=acme, name="Cash"), "accountGroup.created")
        for row in (group, other):
            assert change.lock(AccountGroup, row.id) == row
            assert change.lock(AccountGroup.objects.active(), str(row.id)) == row


def test_lock_or_none_returns_none_for_row_outside_queryset(acme, group, audit_context):
    with change_company(acme, context=audit_context) as change:
        assert change.lock_or_none(AccountGroup.objects.filter(archived=True), group.id) is None
        assert change.lock_or_none(AccountGroup, "banks") is None


def test_locked_row_refers_to_the_same_company_object(acme, group, audit_context):
    with change_company(acme, context=audit_context) as change:
        assert change.lock(AccountGroup, group.id).company is acme


def test_stale_row_version_is_rejected(acme, group, audit_context):
    seen, another = frozenset({compute_version(group)}), frozenset({"another"})
    for expected in (None, seen, frozenset({ANY_VERSION})):
        with change_company(acme, context=replace(audit_context, expected_versions=expected)) as change:
            assert change.lock(AccountGroup, group.id) == group
    with change_company(acme, context=replace(audit_context, expected_versions=another)) as change:
        with pytest.raises(PreconditionFailed) as answer:
            change.lock(AccountGroup, group.id)
        assert answer.value.row == group
        assert change.lock(AccountGroup, group.id, check_versions=False) == group


def test_stale_company_version_is_rejected(acme, globex, audit_context):
    seen, another = frozenset({compute_version(acme)}), frozenset({"another"})
    for expected in (None, seen):
        with change_company(acme, context=replace(audit_context, expected_versions=expected)) as change:
            assert change.lock_company_row() == acme
    with change_company(acme, context=replace(audit_context, expected_versions=another)) as change:
        with pytest.raises(PreconditionFailed) as answer:
            change.lock_company_row()
        assert answer.value.row == acme


# ---------------------------------------------------------------------------------------------- what is told of it


def test_audit_entry_stores_actor_only_in_its_own_column(api, sign_in_browser, alice, acme, group):
    """By its own columns, and not again among what changed."""
    sign_in_browser(alice, acme).put(f"account_groups/{group.id}", {"name": "Cash"})
    row = api.get("audit_log").json()[0]
    assert (row["actor"], row["before"], row["after"]) == (str(alice.id), {"name": "Banks"}, {"name": "Cash"})


def test_audit_entry_stores_only_differing_added_and_removed_values(acme, group, audit_context):
    with change_company(acme, context=audit_context) as change:
        was, is_ = {"name": "Banks", "gone": 1}, {"name": "Banks", "new": 2}
        entry = change.record(group, "accountGroup.updated", before=was, after=is_)
    assert (entry.before, entry.after) == ({"gone": 1, "new": None}, {"gone": None, "new": 2})


def get_audit_entry(company, action):
    entry = AuditEntry.objects.for_company(company.id).get(action=action)
    return entry.entity_type, entry.entity_id, entry.before, entry.after


def test_created_row_has_author_and_is_logged_completely(acme, alice, audit_context):
    audit_context = replace(audit_context, actor=str(alice.id))
    with change_company(acme, context=audit_context) as change:
        made = change.create(AccountGroup(company=acme, name="Cash"), "accountGroup.created")
    made.refresh_from_db()
    assert (made.name, made.created_user_id, made.created_time) == ("Cash", str(alice.id), audit_context.time)
    kind, entity_id, before, after = get_audit_entry(acme, "accountGroup.created")
    assert (kind, entity_id, before) == ("accountGroup", str(made.id), None)
    assert after["name"] == "Cash"
    assert set(after) == set(snapshot_row(made))


def test_inserted_row_is_stored_without_audit_entry(acme, audit_context):
    entries = AuditEntry.objects.count()
    with change_company(acme, context=audit_context) as change:
        made = change.insert(AccountGroup(company=acme, name="Cash"))
    assert AccountGroup.objects.get(id=made.id).created_time == audit_context.time
    assert AuditEntry.objects.count() == entries


def test_deleted_row_is_logged_with_its_previous_values(acme, group, audit_context):
    with change_company(acme, context=audit_context) as change:
        entry = change.delete(group, "accountGroup.deleted")
    assert not AccountGroup.objects.filter(name="Banks").exists()
    kind, entity_id, before, after = get_audit_entry(acme, "accountGroup.deleted")
    assert (entry.entity_id, entity_id) == (str(group.id), str(group.id))
    assert (kind, before["name"], after) == ("accountGroup", "Banks", None)
    assert set(before) == set(snapshot_row(group))


def test_deleted_row_is_logged_with_given_values_if_provided(acme, group, audit_context):
    with change_company(acme, context=audit_context) as change:
        change.delete(group, "accountGroup.deleted", before={"name": "of old"})
    assert get_audit_entry(acme, "accountGroup.deleted")[2] == {"name": "of old"}


def test_referenced_row_is_not_deleted_and_raises_its_model_error(acme, group, audit_context):
    inside = Account(company=acme, account_group=group, type="bank", name="Main", default_currency="EUR")
    inside.include_in_cash_balance = True
    inside.mark_created(audit_context).save(force_insert=True)
    entries = AuditEntry.objects.count()
    with pytest.raises(AccountGroupNotEmpty), change_company(acme, context=audit_context) as change:
        change.delete(group, "accountGroup.deleted")
    assert AccountGroup.objects.filter(id=group.id).exists()
    assert AuditEntry.objects.count() == entries


def get_last_update_time(company):
    return Company.objects.get(id=company.id).last_overall_updated_time


def test_change_updates_company_time_only_if_data_changed(acme, globex, group, audit_context):
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    Company.objects.update(last_overall_updated_time=long_ago)
    with change_company(acme, context=audit_context) as change:
        assert not change.update(group, "accountGroup.updated", name="Banks")
    assert get_last_update_time(acme) == long_ago
    with change_company(acme, context=audit_context) as change:
        assert change.update(group, "accountGroup.updated", name="Cash")
    assert (get_last_update_time(acme), get_last_update_time(globex)) == (audit_context.time, long_ago)


def test_row_of_another_company_is_not_found(acme, globex, group, audit_context):
    with change_company(globex, context=audit_context) as change:
        assert change.lock_or_none(AccountGroup, group.id) is None
        with pytest.raises(NotFoundError):
            change.lock(AccountGroup, str(group.id))


def test_new_row_cannot_replace_existing_one(acme, group, audit_context):
    with pytest.raises(ConstraintConflict), change_company(acme, context=audit_context) as change:
        change.create(AccountGroup(company=acme, id=group.id, name="Cash"), "accountGroup.created")
    group.name = "Cash"
    with pytest.raises(ConstraintConflict), change_company(acme, context=audit_context) as change:
        change.insert(group)
    assert AccountGroup.objects.get(id=group.id).name == "Banks"


def test_failed_change_stores_nothing(acme, group, audit_context):
    def half_done():
        with change_company(acme, context=audit_context) as change:
            change.update(group, "accountGroup.updated", name="Cash")
            raise NotFoundError

    entries = AuditEntry.objects.count()
    with pytest.raises(NotFoundError):
        half_done()
    assert AccountGroup.objects.get(id=group.id).name == "Banks"
    assert AuditEntry.objects.count() == entries


# ---------------------------------------------------------------------------------------------- one place up or down


@pytest.mark.parametrize(
    ("name", "down", "order"),
    [
        ("a", True, "bacd"),
        ("b", True, "acbd"),
        ("c", False, "acbd"),
        ("d", False, "abdc"),
        ("a", False, "abcd"),
        ("d", True, "abcd"),
    ],
)
def test_move_row_moves_one_place_and_stops_at_both_ends(acme, audit_context, name, down, order):
    with change_company(acme, context=audit_context) as change:
        rows = [change.create(AccountGroup(company=acme, name=each), "accountGroup.created") for each in "abcd"]
        moved = next(row for row in rows if row.name == name)
        there = AccountGroup.objects.for_company(acme.id).in_display_order()
        assert change.move_row(there, moved.id, action="accountGroup.updated", move_down=down).id == moved.id
        again = AccountGroup.objects.for_company(acme.id).order_by("order")
        assert [(row.order, row.name) for row in again] == list(enumerate(order))
        entries = AuditEntry.objects.for_company(acme.id).filter(action="accountGroup.updated")
        assert {row.entity_id for row in entries} <= {str(moved.id)}  # the others make room


def test_move_row_rejects_row_of_another_company(acme, globex, audit_context):
    other = AccountGroup(company=globex, name="x").mark_created(audit_context)
    other.save(force_insert=True)
    with change_company(acme, context=audit_context) as change, pytest.raises(NotFoundError):
        change.move_row(
            AccountGroup.objects.for_company(acme.id).in_display_order(),
            other.id,
            action="accountGroup.updated",
            move_down=True,
        )


# ---------------------------------------------------------------------------------------------- what the database says


def raise_database_error(state: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END$$")


@pytest.mark.parametrize(
    ("state", "refusal"),
    [
        ("40P01", ConcurrentChangeRace),
        ("40001", ConcurrentChangeRace),
        ("23503", ConstraintConflict),
        ("57014", DatabaseError),
    ],
)
def test_database_constraint_errors_become_domain_errors(acme, audit_context, state, refusal):
    with pytest.raises(refusal) as answer, change_company(acme, context=audit_context):
        raise_database_error(state)
    assert isinstance(answer.value, DatabaseError) == (refusal is DatabaseError)


def test_constraint_error_uses_its_declared_message(acme, audit_context):
    def invitation():
        return Membership(
            company=acme,
            invited_email="new@acme.example",
            role="viewer",
            token_digest="",
            expires_time=audit_context.time,
        )

    invitation().mark_created(audit_context).save()
    with (
        pytest.raises(AlreadyInvited, match="can be sent again"),
        change_company(acme, context=audit_context) as change,
    ):
        change.insert(invitation())

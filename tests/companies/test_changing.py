"""One way to change something: what every change of a company's data keeps to, whatever it changes."""

import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from companies.changing import Contradiction, SameMoment, changing
from companies.errors import Missing
from companies.models import AuditEntry, Company, Membership, User, snapshot
from companies.models.memberships import AlreadyInvited
from companies.versions import ANY, Stale, version_of
from ledger.models import Account, AccountGroup
from ledger.models.accounts import AccountGroupNotEmpty

pytestmark = pytest.mark.django_db


@pytest.fixture
def group(api):
    made = api.post("account_groups", {"name": "Banks"}).json()["id"]
    return AccountGroup.objects.get(id=made)


def in_another(act):
    """What another connection gets to see meanwhile."""
    found: list[Any] = []

    def run():
        try:
            with transaction.atomic():
                found.append(act())
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def free(rows, row):
    """Whether nobody holds the row; the rows are those of one company, else a cluster locks none."""
    return in_another(lambda: rows.select_for_update(skip_locked=True).filter(id=row.id).exists())


# ---------------------------------------------------------------------------------------------- what is held


@pytest.mark.django_db(transaction=True)
def test_a_row_is_nobody_elses_until_the_change_ends(acme, group, stamp):
    with changing(acme, stamp=stamp) as change:
        assert free(AccountGroup.objects.of(acme.id), group)
        change.locked(AccountGroup, group.id)
        assert not free(AccountGroup.objects.of(acme.id), group)
    assert free(AccountGroup.objects.of(acme.id), group)


@pytest.mark.django_db(transaction=True)
def test_the_companys_own_row_is_nobody_elses_until_the_change_ends(acme, stamp):
    with changing(acme, stamp=stamp) as change:
        change.locked_company()
        assert not free(Company.objects, acme)
    assert free(Company.objects, acme)


@pytest.mark.django_db(transaction=True)
def test_what_is_read_beside_a_row_stays_free(acme, alice, stamp):
    members = Membership.objects.select_related("user")
    mine = members.get(company=acme, user=alice)
    with changing(acme, stamp=stamp) as change:
        change.locked(members, mine.id)
        assert not free(Membership.objects.of(acme.id), mine)
        assert free(User.objects, alice)


TURN_IS_FREE = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"


def turn_is_free(company):
    def ask():
        with connection.cursor() as cursor:
            cursor.execute(TURN_IS_FREE, [f"ledger:{company.id}"])
            return cursor.fetchone()[0]

    return in_another(ask)


@pytest.mark.django_db(transaction=True)
def test_a_change_has_its_companys_turn_to_its_end_and_no_other_companys(acme, globex, stamp):
    with changing(acme, stamp=stamp):
        assert not turn_is_free(acme)
        assert turn_is_free(globex)
    assert turn_is_free(acme)


@pytest.mark.django_db(transaction=True)
def test_a_company_stays_while_it_is_changed(acme, stamp):
    with changing(acme, stamp=stamp):
        assert not free(Company.objects, acme)  # nobody could delete it
        assert in_another(lambda: Company.objects.filter(id=acme.id).update(name="New")) == 1


# ---------------------------------------------------------------------------------------------- which row it is


def test_of_many_rows_the_one_asked_for_is_locked_by_its_id_or_by_the_text_of_it(acme, group, stamp):
    with changing(acme, stamp=stamp) as change:
        other = change.create(AccountGroup(company=acme, name="Cash"), "accountGroup.created")
        for row in (group, other):
            assert change.locked(AccountGroup, row.id) == row
            assert change.locked(AccountGroup.objects.active(), str(row.id)) == row


def test_a_row_that_the_rows_do_not_have_is_missing(acme, group, stamp):
    with changing(acme, stamp=stamp) as change:
        assert change.locked_or_none(AccountGroup.objects.filter(archived=True), group.id) is None
        assert change.locked_or_none(AccountGroup, "banks") is None


def test_a_locked_row_belongs_to_the_very_company_that_is_changed(acme, group, stamp):
    with changing(acme, stamp=stamp) as change:
        assert change.locked(AccountGroup, group.id).company is acme


def test_who_has_not_seen_the_row_as_it_is_does_not_get_it(acme, group, stamp):
    seen, another = frozenset({version_of(group)}), frozenset({"another"})
    for expected in (None, seen, frozenset({ANY})):
        with changing(acme, stamp=replace(stamp, expected=expected)) as change:
            assert change.locked(AccountGroup, group.id) == group
    with changing(acme, stamp=replace(stamp, expected=another)) as change:
        with pytest.raises(Stale) as told:
            change.locked(AccountGroup, group.id)
        assert told.value.row == group
        assert change.locked(AccountGroup, group.id, versioned=False) == group


def test_who_has_not_seen_the_company_as_it_is_does_not_get_it(acme, globex, stamp):
    seen, another = frozenset({version_of(acme)}), frozenset({"another"})
    for expected in (None, seen):
        with changing(acme, stamp=replace(stamp, expected=expected)) as change:
            assert change.locked_company() == acme
    with changing(acme, stamp=replace(stamp, expected=another)) as change:
        with pytest.raises(Stale) as told:
            change.locked_company()
        assert told.value.row == acme


# ---------------------------------------------------------------------------------------------- what is told of it


def test_the_log_says_once_who_and_when(api, browser_of, alice, acme, group):
    """By its own columns, and not again among what changed."""
    browser_of(alice, acme).put(f"account_groups/{group.id}", {"name": "Cash"})
    row = api.get("audit_log").json()[0]
    assert (row["actor"], row["before"], row["after"]) == (str(alice.id), {"name": "Banks"}, {"name": "Cash"})


def test_the_log_keeps_what_differs_and_what_only_was_or_only_is(acme, group, stamp):
    with changing(acme, stamp=stamp) as change:
        was, is_ = {"name": "Banks", "gone": 1}, {"name": "Banks", "new": 2}
        entry = change.record(group, "accountGroup.updated", before=was, after=is_)
    assert (entry.before, entry.after) == ({"gone": 1, "new": None}, {"gone": None, "new": 2})


def entry_of(company, action):
    entry = AuditEntry.objects.of(company.id).get(action=action)
    return entry.entity_type, entry.entity_id, entry.before, entry.after


def test_a_new_row_is_its_authors_and_logged_as_it_is(acme, alice, stamp):
    stamp = replace(stamp, actor=str(alice.id))
    with changing(acme, stamp=stamp) as change:
        made = change.create(AccountGroup(company=acme, name="Cash"), "accountGroup.created")
    made.refresh_from_db()
    assert (made.name, made.created_user_id, made.created_time) == ("Cash", str(alice.id), stamp.time)
    kind, entity_id, before, after = entry_of(acme, "accountGroup.created")
    assert (kind, entity_id, before) == ("accountGroup", str(made.id), None)
    assert after["name"] == "Cash"
    assert set(after) == set(snapshot(made))


def test_a_row_whose_entry_says_more_is_stored_and_not_logged(acme, stamp):
    entries = AuditEntry.objects.count()
    with changing(acme, stamp=stamp) as change:
        made = change.store(AccountGroup(company=acme, name="Cash"))
    assert AccountGroup.objects.get(id=made.id).created_time == stamp.time
    assert AuditEntry.objects.count() == entries


def test_a_deleted_row_is_logged_as_it_was(acme, group, stamp):
    with changing(acme, stamp=stamp) as change:
        entry = change.delete(group, "accountGroup.deleted")
    assert not AccountGroup.objects.filter(name="Banks").exists()
    kind, entity_id, before, after = entry_of(acme, "accountGroup.deleted")
    assert (entry.entity_id, entity_id) == (str(group.id), str(group.id))
    assert (kind, before["name"], after) == ("accountGroup", "Banks", None)
    assert set(before) == set(snapshot(group))


def test_of_a_deleted_row_the_log_keeps_what_its_act_says_of_it(acme, group, stamp):
    with changing(acme, stamp=stamp) as change:
        change.delete(group, "accountGroup.deleted", before={"name": "of old"})
    assert entry_of(acme, "accountGroup.deleted")[2] == {"name": "of old"}


def test_a_row_that_others_refer_to_stays_and_its_model_says_why(acme, group, stamp):
    inside = Account(company=acme, account_group=group, type="bank", name="Main", default_currency="EUR")
    inside.include_in_cash_balance = True
    inside.stamp_new(stamp).save(force_insert=True)
    entries = AuditEntry.objects.count()
    with pytest.raises(AccountGroupNotEmpty), changing(acme, stamp=stamp) as change:
        change.delete(group, "accountGroup.deleted")
    assert AccountGroup.objects.filter(id=group.id).exists()
    assert AuditEntry.objects.count() == entries


def last_overall_update(company):
    return Company.objects.get(id=company.id).last_overall_updated_time


def test_a_change_marks_its_company_as_updated_and_one_of_nothing_does_not(acme, globex, group, stamp):
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    Company.objects.update(last_overall_updated_time=long_ago)
    with changing(acme, stamp=stamp) as change:
        assert not change.update(group, "accountGroup.updated", name="Banks")
    assert last_overall_update(acme) == long_ago
    with changing(acme, stamp=stamp) as change:
        assert change.update(group, "accountGroup.updated", name="Cash")
    assert (last_overall_update(acme), last_overall_update(globex)) == (stamp.time, long_ago)


def test_another_companys_row_is_missing(acme, globex, group, stamp):
    with changing(globex, stamp=stamp) as change:
        assert change.locked_or_none(AccountGroup, group.id) is None
        with pytest.raises(Missing):
            change.locked(AccountGroup, str(group.id))


def test_a_new_row_takes_the_place_of_none(acme, group, stamp):
    with pytest.raises(Contradiction), changing(acme, stamp=stamp) as change:
        change.create(AccountGroup(company=acme, id=group.id, name="Cash"), "accountGroup.created")
    group.name = "Cash"
    with pytest.raises(Contradiction), changing(acme, stamp=stamp) as change:
        change.store(group)
    assert AccountGroup.objects.get(id=group.id).name == "Banks"


def test_a_change_that_fails_leaves_nothing(acme, group, stamp):
    def half_done():
        with changing(acme, stamp=stamp) as change:
            change.update(group, "accountGroup.updated", name="Cash")
            raise Missing

    entries = AuditEntry.objects.count()
    with pytest.raises(Missing):
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
def test_a_row_goes_one_place_up_or_down_and_who_is_first_or_last_stays(acme, stamp, name, down, order):
    with changing(acme, stamp=stamp) as change:
        rows = [change.create(AccountGroup(company=acme, name=each), "accountGroup.created") for each in "abcd"]
        moved = next(row for row in rows if row.name == name)
        there = AccountGroup.objects.of(acme.id).in_order()
        assert change.step(there, moved.id, action="accountGroup.updated", down=down).id == moved.id
        again = AccountGroup.objects.of(acme.id).order_by("order")
        assert [(row.order, row.name) for row in again] == list(enumerate(order))
        told = AuditEntry.objects.of(acme.id).filter(action="accountGroup.updated")
        assert {row.entity_id for row in told} <= {str(moved.id)}  # the others make room


def test_a_row_that_is_not_there_moves_nobody(acme, globex, stamp):
    other = AccountGroup(company=globex, name="x").stamp_new(stamp)
    other.save(force_insert=True)
    with changing(acme, stamp=stamp) as change, pytest.raises(Missing):
        change.step(AccountGroup.objects.of(acme.id).in_order(), other.id, action="accountGroup.updated", down=True)


# ---------------------------------------------------------------------------------------------- what the database says


def said_by_the_database(state: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END$$")


@pytest.mark.parametrize(
    ("state", "refusal"),
    [("40P01", SameMoment), ("40001", SameMoment), ("23503", Contradiction), ("57014", DatabaseError)],
)
def test_what_the_database_refuses_is_a_refusal_and_any_other_trouble_stays_what_it_is(acme, stamp, state, refusal):
    with pytest.raises(refusal) as told, changing(acme, stamp=stamp):
        said_by_the_database(state)
    assert isinstance(told.value, DatabaseError) == (refusal is DatabaseError)


def test_what_a_constraint_refuses_is_said_in_the_words_that_stand_beside_it(acme, stamp):
    def invitation():
        return Membership(
            company=acme, invited_email="new@acme.example", role="viewer", token_digest="", expires_time=stamp.time
        )

    invitation().stamp_new(stamp).save()
    with pytest.raises(AlreadyInvited, match="can be sent again"), changing(acme, stamp=stamp) as change:
        change.store(invitation())

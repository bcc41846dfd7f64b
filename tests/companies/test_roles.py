"""Who may do what: every permission by its role, and what is said of many in a few words."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime

import pytest

from companies.auth.access import build_access
from companies.models import Company
from companies.pages.settings.member_permissions import summarize_permissions
from companies.permissions import (
    ADMIN_PERMISSIONS,
    ALL_PERMISSIONS,
    Permission,
    Role,
    describe_permissions,
    get_membership_permissions,
    parse_permissions,
    sort_permissions,
)

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)

# In the order in which answers list them: what it is, and which roles hold it.
TABLE = """
accounts:read         owner admin editor viewer
accounts:write        owner admin editor
transactions:read     owner admin editor viewer
transactions:write    owner admin editor
categories:read       owner admin editor viewer
categories:write      owner admin editor
counterparties:read   owner admin editor viewer
counterparties:write  owner admin editor
files:read            owner admin editor viewer
files:write           owner admin editor
planning:read         owner admin editor viewer
planning:write        owner admin editor
products:read         owner admin editor viewer
products:write        owner admin editor
subscriptions:read    owner admin editor viewer
subscriptions:write   owner admin editor
notifications:read    owner admin editor viewer
notifications:write   owner admin editor viewer
company:read          owner admin editor viewer
company:write         owner admin editor
balances:read         owner admin editor viewer
financials:read       owner admin editor viewer
company:manage        owner
members:manage        owner admin
apiKeys:manage        owner admin
apps:manage           owner admin
notifications:manage  owner admin
closings:manage       owner admin
audit:read            owner admin
"""
ROLES_OF_PERMISSION = {name: set(roles) for name, *roles in map(str.split, TABLE.strip().splitlines())}
ADMINISTRATIVE = {name for name in ROLES_OF_PERMISSION if name.endswith(":manage")} | {"audit:read"}
PLAIN = [name for name in ROLES_OF_PERMISSION if name not in ADMINISTRATIVE]
READS = [name for name in PLAIN if name.endswith(":read")]


def test_permission_table_lists_every_permission_and_role():
    assert [each.value for each in Permission] == list(ROLES_OF_PERMISSION)
    assert set.union(*ROLES_OF_PERMISSION.values()) == {each.value for each in Role}


@pytest.mark.parametrize("role", Role)
def test_role_has_the_permissions_of_the_table(role):
    assert {each.value for each in role.permissions} == {
        name for name in ROLES_OF_PERMISSION if role in ROLES_OF_PERMISSION[name]
    }
    assert get_membership_permissions(role=role.value, explicit=None) == role.permissions


def test_permission_is_read_write_or_administrative():
    for permission in Permission:
        does = permission.value.partition(":")[2]
        assert (permission.is_read, permission.is_write) == (does == "read", does == "write"), permission
        assert permission.is_admin == (permission.value in ADMINISTRATIVE) == (permission in ADMIN_PERMISSIONS)


def test_write_permissions_include_their_read_permission():
    for permission in Permission:
        resource, _, does = permission.value.partition(":")
        assert permission.read_permission == (f"{resource}:read" if does == "write" else permission.value)


# ---------------------------------------------------------------------------------------------- lists of them


def test_unknown_stored_permissions_are_ignored():
    assert parse_permissions(["files:write", "accounts:eat", "", "files:read", "files:read"]) == {
        Permission.FILES_READ,
        Permission.FILES_WRITE,
    }
    assert parse_permissions([]) == frozenset()
    assert parse_permissions(ROLES_OF_PERMISSION) == ALL_PERMISSIONS


def test_permissions_are_listed_in_a_fixed_order():
    assert sort_permissions(reversed(Permission)) == list(ROLES_OF_PERMISSION)
    assert sort_permissions([Permission.AUDIT_READ, Permission.FILES_READ, Permission.AUDIT_READ]) == [
        "files:read",
        "audit:read",
    ]
    assert sort_permissions([]) == []


@pytest.mark.parametrize("role", Role)
def test_custom_permissions_replace_those_of_the_role_even_if_empty(role):
    assert get_membership_permissions(role=role, explicit=["company:manage", "of old"]) == {Permission.COMPANY_MANAGE}
    assert get_membership_permissions(role=role, explicit=[]) == frozenset()


def test_unknown_role_is_an_error():
    with pytest.raises(ValueError, match="guest"):
        get_membership_permissions(role="guest", explicit=None)


# ---------------------------------------------------------------------------------------------- in words


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ([*ROLES_OF_PERMISSION], "Everything including administration"),
        (PLAIN, "Read and write everything"),
        ([*PLAIN, "audit:read"], "Read and write everything, including administration"),
        (READS, "Read everything"),
        ([*READS, "members:manage"], "Read everything, including administration"),
        ([*READS, "files:write"], ", ".join(sorted([*READS, "files:write"], key=[*ROLES_OF_PERMISSION].index))),
        (READS[1:], ", ".join(READS[1:])),
        (["audit:read", "accounts:read"], "accounts:read, audit:read"),
        (["accounts:eat"], ""),
        ([], ""),
    ],
)
def test_key_permissions_are_summarized(held, words):
    assert describe_permissions(held) == words


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ([*ROLES_OF_PERMISSION], "View all, edit all, administration"),
        (PLAIN, "View all, edit all"),
        (READS, "View all, edit none"),
        ([*READS, "files:write"], "View all, edit 1 of 10"),
        (["files:read", "accounts:read", "files:write"], "View 2 of 12, edit 1 of 10"),
        (["audit:read"], "View none, edit none, administration"),
        ([], "View none, edit none"),
    ],
)
def test_member_permissions_are_summarized(held, words):
    assert summarize_permissions(parse_permissions(held)) == words


# ---------------------------------------------------------------------------------------------- a second factor


@pytest.mark.parametrize(
    ("demanded", "since", "waits"),
    [(False, None, False), (False, LONG_AGO, False), (True, LONG_AGO, False), (True, None, True)],
)
def test_member_without_required_mfa_has_no_permissions(demanded, since, waits):
    company = Company(name="Acme", require_second_factor=demanded)
    access = build_access(company, role=Role.OWNER, permissions=ALL_PERMISSIONS, factor_since=since)
    assert (access.company, access.role, access.needs_mfa_setup) == (company, "owner", waits)
    assert access.permissions == (frozenset() if waits else ALL_PERMISSIONS)


def test_access_is_immutable():
    access = build_access(
        Company(name="Acme"), role=Role.VIEWER, permissions=Role.VIEWER.permissions, factor_since=None
    )
    with pytest.raises(FrozenInstanceError):
        access.permissions = ALL_PERMISSIONS

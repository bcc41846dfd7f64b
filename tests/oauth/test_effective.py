"""What an app may do: what its scope grants, its user held at consent and still holds, and nothing administrative."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companies.permissions import ADMIN_LEVEL, ALL, Permission
from oauth.permissions import effective
from oauth.wire import scopes

READS = {each for each in Permission if each.value.endswith(":read")} - {Permission.AUDIT_READ}
WRITES = {each for each in Permission if each.value.endswith(":write")}
SOME = frozenset({Permission.FILES_READ, Permission.FILES_WRITE, Permission.ACCOUNTS_READ, Permission.AUDIT_READ})
subsets = st.frozensets(st.sampled_from(sorted(ALL)))


@given(asked=st.lists(st.sampled_from([*scopes.ALL, "nonsense"])), snapshot=subsets, current=subsets)
def test_r9_r10_effective_permissions_are_never_more_than_any_of_the_three(asked, snapshot, current):
    held = effective(scopes=asked, snapshot=snapshot, current=current)
    assert held <= snapshot & current
    assert not held & ADMIN_LEVEL
    assert not held or {"svc:read", "svc:write"} & set(asked)
    assert all(p.reads for p in held) or "svc:write" in asked
    assert all(p.writes for p in held) or "svc:read" in asked


@pytest.mark.parametrize(
    ("asked", "granted"),
    [
        ([], set()),
        (["openid", "profile", "email", "offline_access", "nonsense"], set()),
        (["svc:read"], READS),
        (["svc:write"], WRITES),
        (["svc:read", "openid", "svc:write"], READS | WRITES),
    ],
)
def test_a_scope_grants_every_permission_of_its_kind(asked, granted):
    assert effective(scopes=asked, snapshot=ALL, current=ALL) == granted


@pytest.mark.parametrize(
    ("snapshot", "current", "held"),
    [
        (SOME, ALL, SOME - ADMIN_LEVEL),  # one gained since is not the app's
        (ALL, SOME, SOME - ADMIN_LEVEL),  # one lost since neither
        (SOME, SOME - {Permission.FILES_READ}, {Permission.FILES_WRITE, Permission.ACCOUNTS_READ}),
        (SOME, frozenset(), set()),
        (frozenset(), SOME, set()),
        (ADMIN_LEVEL, ADMIN_LEVEL, set()),
    ],
)
def test_what_the_user_held_and_holds_is_the_apps(snapshot, current, held):
    assert effective(scopes=["svc:read", "svc:write"], snapshot=snapshot, current=current) == held

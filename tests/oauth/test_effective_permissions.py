"""What an app may do: what its scope grants, its user held at consent and still holds, and nothing administrative."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companies.permissions import ADMIN_PERMISSIONS, ALL_PERMISSIONS, Permission
from oauth.permissions import compute_effective_permissions
from oauth.protocol import scopes

READS = {each for each in Permission if each.value.endswith(":read")} - {Permission.AUDIT_READ}
WRITES = {each for each in Permission if each.value.endswith(":write")}
SOME = frozenset({Permission.FILES_READ, Permission.FILES_WRITE, Permission.ACCOUNTS_READ, Permission.AUDIT_READ})
subsets = st.frozensets(st.sampled_from(sorted(ALL_PERMISSIONS)))


@given(requested_scopes=st.lists(st.sampled_from([*scopes.ALL_SCOPES, "nonsense"])), snapshot=subsets, current=subsets)
def test_r9_r10_effective_permissions_never_exceed_scope_consent_or_user(requested_scopes, snapshot, current):
    held = compute_effective_permissions(scopes=requested_scopes, snapshot=snapshot, current=current)
    assert held <= snapshot & current
    assert not held & ADMIN_PERMISSIONS
    assert not held or {"svc:read", "svc:write"} & set(requested_scopes)
    assert all(p.is_read for p in held) or "svc:write" in requested_scopes
    assert all(p.is_write for p in held) or "svc:read" in requested_scopes


@pytest.mark.parametrize(
    ("requested_scopes", "granted"),
    [
        ([], set()),
        (["openid", "profile", "email", "offline_access", "nonsense"], set()),
        (["svc:read"], READS),
        (["svc:write"], WRITES),
        (["svc:read", "openid", "svc:write"], READS | WRITES),
    ],
)
def test_scope_grants_every_permission_of_its_kind(requested_scopes, granted):
    assert (
        compute_effective_permissions(scopes=requested_scopes, snapshot=ALL_PERMISSIONS, current=ALL_PERMISSIONS)
        == granted
    )


@pytest.mark.parametrize(
    ("snapshot", "current", "held"),
    [
        (SOME, ALL_PERMISSIONS, SOME - ADMIN_PERMISSIONS),  # one gained since is not the app's
        (ALL_PERMISSIONS, SOME, SOME - ADMIN_PERMISSIONS),  # one lost since neither
        (SOME, SOME - {Permission.FILES_READ}, {Permission.FILES_WRITE, Permission.ACCOUNTS_READ}),
        (SOME, frozenset(), set()),
        (frozenset(), SOME, set()),
        (ADMIN_PERMISSIONS, ADMIN_PERMISSIONS, set()),
    ],
)
def test_app_permissions_are_intersection_of_consent_and_user_permissions(snapshot, current, held):
    assert compute_effective_permissions(scopes=["svc:read", "svc:write"], snapshot=snapshot, current=current) == held

"""What the overview shows depends on who looks."""

import pytest

from companies.permissions import Role
from tests import factories
from tests.analytics.reports.test_overview import get_overview

pytestmark = pytest.mark.django_db


def test_overview_account_link_requires_account_permission(api, alice, acme, bank):
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["balances:read"])
    link = f'href="/app/companies/{acme.id}/accounts/{bank}"'
    assert link in get_overview(alice, acme)
    assert link not in get_overview(dan, acme)

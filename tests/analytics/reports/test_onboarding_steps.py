"""An empty company leads whoever may to its first figures, and says what is done."""

import re

import pytest

from companies.models import AuditEntry
from tests.analytics.reports.test_overview import create_transaction, get_overview
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


def parse_onboarding_steps(html):
    """What is to be done: step → the addresses it leads to, None once it is done; None where nothing is said of it."""
    part = html.split('id="onboarding-title">')
    if not part[1:]:
        return None
    steps = part[1].split("</section>")[0].split("<h3>")[1:]
    return {
        each.split("</h3>")[0].split(" <span")[0]: None
        if '<span class="badge">done' in each
        else [address.split(find_company_id(html))[1] for address in re.findall(r'href="([^"]+)"', each)]
        for each in steps
    }


def find_company_id(html):
    return re.search(r"/app/companies/([0-9a-f-]{36})", html)[1]


def test_onboarding_leads_from_an_empty_company_to_first_figures(api, alice, bob, acme):
    bring, purposes, plan, closing, others = (
        "Import a bank statement",
        "Categorize transactions",
        "Plan upcoming payments",
        "Close your first month",
        "Invite your team",
    )
    led = parse_onboarding_steps(get_overview(alice, acme))
    assert led == {
        bring: ["/imports/new", "/accounts/new"],
        purposes: ["/inbox"],
        plan: ["/plan/import", "/planned/new"],
        closing: ["/closings"],
        others: None,
    }  # Bob is there
    assert parse_onboarding_steps(get_overview(bob, acme)) == {
        **{step: [] for step in (bring, purposes, plan, closing)},
        others: None,
    }
    bank = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    assert parse_onboarding_steps(get_overview(alice, acme))[bring] == ["/imports/new", "/transactions/new"]
    moved = create_transaction(api, bank, "5.00", TODAY)
    assert parse_onboarding_steps(get_overview(alice, acme)) == led | {bring: None}
    category = api.post("categories", {"name": "Sales", "plTypes": ["revenue"]}).json()["id"]
    chosen = {"selection": {"mode": "ids", "ids": [moved]}, "categoryId": category}
    assert api.post("transactions/categorize", chosen).status_code == 200
    assert parse_onboarding_steps(get_overview(alice, acme)) == led | {bring: None, purposes: None}
    planned = {"accountId": bank, "name": "Rent", "startDate": str(TODAY), "amountValue": "-1.00"}
    assert api.post("planned_transactions", planned).status_code == 201
    assert parse_onboarding_steps(get_overview(alice, acme)) is None


def test_onboarding_highlights_only_the_next_step(api, alice, acme):
    def standing_out():
        part = get_overview(alice, acme).split('id="onboarding-title">')[1].split("</section>")[0]
        return [address.split("/")[-2:] for address in re.findall(r'class="button primary" href="([^"]+)"', part)]

    assert standing_out() == [["imports", "new"]]
    bank = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    assert standing_out() == [["imports", "new"]]
    create_transaction(api, bank, "5.00", TODAY)
    assert standing_out() == [[str(acme.id), "inbox"]]


def test_onboarding_can_be_dismissed_for_the_company(alice, bob, owner, viewer, acme):
    away = f"/app/companies/{acme.id}/first-hour"
    html = get_overview(alice, acme)
    assert f'action="{away}"' in html
    assert 'form="dismiss-onboarding"' in html
    refused = get_overview(bob, acme)
    assert "dismiss-onboarding" not in refused, "who may not change the company is offered nothing"
    assert viewer.post(away).status_code == 403
    answer = owner.post(away, follow=True)
    assert answer.redirect_chain[-1][0] == f"/app/companies/{acme.id}"
    assert parse_onboarding_steps(answer.content.decode()) is None
    assert parse_onboarding_steps(get_overview(bob, acme)) is None
    assert "dismiss-onboarding" not in get_overview(alice, acme)
    assert owner.get(away).status_code == 405
    (entry,) = AuditEntry.objects.for_company(acme.id).filter(action="company.updated")
    assert entry.after == {"first_hour_over": True}

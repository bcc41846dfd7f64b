"""The navigation of a company: every part the member may see, and nothing else."""

import re

import pytest

from companies.pages.navigation import NAVIGATION
from companies.permissions import Permission, Role
from tests import factories

pytestmark = pytest.mark.django_db

PARTS = [
    *("Overview", "Inbox", "Transactions", "Accounts", "Cash plan", "Receivables", "Payables", "Plan"),
    *("Profit and loss", "Recurring revenue", "Settings"),
]


def list_links(html, company):
    """Return label -> (href, whether it is the current page) of the navigation of a company."""
    navigation = re.search(rf'<nav class="sidebar-nav" aria-label="{company.name}">(.*?)</nav>', html, re.S)[1]
    links = {}
    for attributes, inside in re.findall(r"<a (.*?)>(.*?)</a>", navigation, re.S):
        label = re.sub(r"<svg.*?</svg>|<span.*?</span>", "", inside, flags=re.S).strip()
        links[label] = (re.search(r'href="([^"]+)"', attributes)[1], "aria-current" in attributes)
    return links


def get_links(browser, company, path=""):
    return list_links(browser.client.get(f"/app/companies/{company.id}/{path}", follow=True).content.decode(), company)


def test_navigation_of_owner_has_every_part_in_order(browser_of, alice, acme):
    links = get_links(browser_of(alice, acme), acme)
    assert [label for label in links if label != "Reports"] == PARTS
    assert [label for label, (_url, is_current) in links.items() if is_current] == ["Overview"]


def test_every_link_leads_to_a_page_that_marks_itself_as_current(browser_of, alice, acme):
    browser = browser_of(alice, acme)
    for label, (url, _is_current) in get_links(browser, acme).items():
        answer = browser.client.get(url, follow=True)
        assert answer.status_code == 200, label
        links = list_links(answer.content.decode(), acme)
        assert [each for each, (_url, is_current) in links.items() if is_current] == [label]


def test_navigation_shows_only_what_permissions_allow(browser_of, acme):
    member = factories.make_member(
        acme, "dan@acme.example", role=Role.VIEWER, permissions=["products:read", "planning:read"]
    )
    browser = browser_of(member, acme)
    links = get_links(browser, acme)
    shown = ["Overview", "Cash plan", "Receivables", "Payables", "Plan", "Recurring revenue", "Settings"]
    assert list(links) == shown
    assert links["Recurring revenue"][0].endswith("/products")
    assert links["Settings"][0].endswith("/settings/api-keys")


def test_item_is_hidden_without_its_permissions():
    for item in NAVIGATION:
        needed = {permission for _name, permission in item.pages if permission}
        if None in {permission for _name, permission in item.pages}:
            assert item.find_page(set()) is not None
        else:
            assert item.find_page(set(Permission) - needed) is None
        for permission in needed:
            assert item.find_page({permission}) is not None


def test_developer_pages_are_under_settings(browser_of, alice, acme):
    html = browser_of(alice, acme).client.get(f"/app/companies/{acme.id}/settings/webhooks").content.decode()
    settings_nav = re.search(r'aria-label="Settings">(.*?)</nav>', html, re.S)[1]
    assert "Developers" in settings_nav
    assert "Webhooks" not in settings_nav
    developers_nav = re.search(r'aria-label="Developers">(.*?)</nav>', html, re.S)[1]
    assert re.findall(r">([^<>]+)</a>", developers_nav) == [
        "API keys and apps",
        "Webhooks",
        "API reference",
        "App guide",
    ]
    assert 'href="/docs"' not in re.search(r"<header.*?</header>", html, re.S)[0]


def test_shortcuts_are_linked_from_profile_and_guides_but_not_in_the_navigation(browser_of, alice, acme):
    client = browser_of(alice, acme).client
    for path in ("/app/profile", "/docs/guides/importing"):
        html = client.get(path).content.decode()
        header = re.search(r"<header.*?</header>", html, re.S)[0]
        assert "/app/shortcuts" not in header
        assert '<a href="/app/shortcuts"' in html
        assert 'data-shortcuts-url="/app/shortcuts"' in html

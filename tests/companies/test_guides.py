"""The guides that the service shows: every page of them is there, and every link in them leads somewhere."""

import re

import pytest
from django.test import Client

from companies.pages.guides import GUIDES, where

pytestmark = pytest.mark.django_db
HREF = re.compile(r'<a href="([^"]+)"')


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_is_shown_to_everybody(name):
    page = Client().get(f"/docs/guides/{name}")
    assert page.status_code == 200
    shown = page.content.decode()
    assert f">{GUIDES[name]}</h1>" in shown
    assert "```" not in shown
    assert ".md" not in "".join(HREF.findall(shown))


def test_every_link_in_a_guide_leads_somewhere():
    client, pages = Client(), {name: Client().get(f"/docs/guides/{name}").content.decode() for name in GUIDES}
    for name, shown in pages.items():
        for target in HREF.findall(shown):
            address, _, place = target.partition("#")
            if address.startswith("https://"):
                continue
            assert not address or client.get(address).status_code in (200, 302), (name, target)
            if place:
                there = pages[address.rpartition("/")[2]] if address else shown
                assert f'id="{place}"' in there, (name, target)


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("oauth.md", "/docs/guides/oauth"),
        ("numbers.md#recurring-revenue", "/docs/guides/numbers#recurring-revenue"),
        ("#here", "#here"),
        ("https://example.com/", "https://example.com/"),
        ("decisions/17-second-factors-on-two-libraries.md", None),
        ("javascript:alert(1)", None),
    ],
)
def test_a_link_to_a_file_that_is_not_shown_is_none(target, leads):
    assert where(target) == leads


def test_another_name_is_not_found():
    assert Client().get("/docs/guides/operations").status_code == 404
    assert Client().get("/docs/guides/../README").status_code == 404


@pytest.mark.parametrize("name", GUIDES)
def test_what_scrolls_is_reached_by_keyboard_and_every_column_has_a_name(client, name):
    html = client.get(f"/docs/guides/{name}").content.decode()
    assert html.count("<pre") == html.count('<pre tabindex="0" role="group" aria-label="Example">')
    assert "<th></th>" not in html


@pytest.mark.parametrize(("name", "folds"), [("numbers", True), ("api-keys", False)])
def test_only_a_long_guide_folds(client, name, folds):
    html = client.get(f"/docs/guides/{name}").content.decode()
    assert ('<details class="part">' in html) is folds
    assert html.count("<details") == html.count("</details>")
    assert html.count('<details class="part">') == (html.count("<h2") if folds else 0)

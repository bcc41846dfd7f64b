"""The guides that the service shows: every page of them is there, and every link in them leads somewhere."""

import re

import pytest
from django.conf import settings
from django.test import Client

from companies.pages.guides import GUIDES, resolve_guide_link

NOT_SHOWN = {  # page of docs/ that is not shown, and why
    "asvs": "for auditors of the code: it names the code's files",
    "backups": "for who runs the service: commands of its machine",
    "endpoints": "for who writes the code",
    "glossary": "for who writes the code and its texts",
    "operations": "for who runs the service: commands and settings of its machine",
    "performance": "for who writes the code",
    "requests": "for who writes the code",
    "scaling": "for who runs the service: its machines",
    "translating": "for who writes the code",
    "tree": "for who writes the code",
}
pytestmark = pytest.mark.django_db
HREF = re.compile(r'<a href="([^"]+)"')


def test_every_page_of_docs_is_shown_or_says_why_not():
    there = {path.stem for path in (settings.ROOT / "docs").glob("*.md")}
    assert there == {*GUIDES, *NOT_SHOWN}
    assert not {*GUIDES} & {*NOT_SHOWN}


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
    assert resolve_guide_link(target) == leads


def test_another_name_is_not_found():
    assert Client().get("/docs/guides/operations").status_code == 404
    assert Client().get("/docs/guides/../README").status_code == 404


@pytest.mark.parametrize("path", ["/docs/guides/operations", "/docs/nothing", "/docs/", "/app/nothing"])
def test_an_unknown_address_is_a_page_in_a_browser(client, path):
    answer = client.get(path, headers={"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"})
    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")
    assert "Nothing here" in answer.content.decode()


@pytest.mark.parametrize("accept", [{}, {"accept": "*/*"}, {"accept": "application/json"}])
def test_an_unknown_address_of_the_documentation_is_a_problem_to_a_program(client, accept):
    answer = client.get("/docs/nothing", headers=accept)
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"
    assert "Accept" in answer["Vary"]


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

"""The guides that the service shows: every page of them is there, and every link in them leads somewhere."""

import re

import pytest
from django.conf import settings
from django.test import Client

from companies.pages.guides import GUIDES, resolve_guide_link

NOT_SHOWN = {  # page of docs/ that is not shown, and why
    "adding-a-field": "for who writes the code",
    "asvs": "for auditors of the code: it names the code's files",
    "backups": "for who runs System: commands of its machine",
    "endpoints": "for who writes the code",
    "glossary": "for who writes the code and its texts",
    "operations": "for who runs System: commands and settings of its machine",
    "performance": "for who writes the code",
    "requests": "for who writes the code",
    "scaling": "for who runs System: its machines",
    "translating": "for who writes the code",
    "tree": "for who writes the code",
}
pytestmark = pytest.mark.django_db
HREF = re.compile(r'<a href="([^"]+)"')


def test_every_docs_page_is_shown_or_listed_as_not_shown():
    there = {path.stem for path in (settings.ROOT / "docs").glob("*.md")}
    assert there == {*GUIDES, *NOT_SHOWN}
    assert not {*GUIDES} & {*NOT_SHOWN}


def test_guide_is_public_and_rendered_as_html():
    for name in GUIDES:
        page = Client().get(f"/docs/guides/{name}")
        assert page.status_code == 200, name
        shown = page.content.decode()
        assert f">{GUIDES[name]}</h1>" in shown
        assert "```" not in shown, name
        assert ".md" not in "".join(HREF.findall(shown)), name


def test_guide_is_shown_in_the_language_of_the_reader_where_it_is_translated():
    german = Client(headers={"accept-language": "de"})
    page = german.get("/docs/guides/month-end").content.decode()
    assert ">Monatsabschluss Schritt für Schritt</h1>" in page
    assert '<article class="guide-text" lang="de">' in page
    english = german.get("/docs/guides/closing").content.decode()
    assert ">Closing a month</h1>" in english
    assert '<article class="guide-text" lang="en">' in english


def test_guides_that_are_not_translated_say_so_in_the_list():
    german = Client(headers={"Accept-Language": "de"}).get("/docs/guides/month-end").content.decode()
    assert '<span lang="en">Closing a month</span> (englisch)' in german
    assert german.count(" (englisch)") == len(GUIDES) - 1
    assert "Month-end step by step" not in german
    assert "in English" not in Client().get("/docs/guides/month-end").content.decode()


def test_translated_guides_have_the_sections_of_the_original():
    for path in (settings.ROOT / "docs").glob("de/*.md"):
        original = settings.ROOT / "docs" / path.name
        headings = [re.findall(r"^#+ ", each.read_text(encoding="utf-8"), re.M) for each in (original, path)]
        assert headings[0] == headings[1], path.name


def test_links_in_guides_have_existing_targets():
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


def test_screenshots_in_guides_are_served():
    page = Client().get("/docs/guides/bookkeeping").content.decode()
    sources = re.findall(r'<img src="([^"]+)"', page)
    assert sources
    assert {Client().get(source).status_code for source in sources} == {200}


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("oauth.md", "/docs/guides/oauth"),
        ("../oauth.md", "/docs/guides/oauth"),
        ("numbers.md#recurring-revenue", "/docs/guides/numbers#recurring-revenue"),
        ("#here", "#here"),
        ("https://example.com/", "https://example.com/"),
        ("decisions/17-mfa-libraries.md", None),
        ("javascript:alert(1)", None),
    ],
)
def test_guide_links_are_resolved_or_removed(target, leads):
    assert resolve_guide_link(target) == leads


def test_address_of_guides_leads_to_the_first():
    assert Client().get("/docs/guides")["Location"] == "/docs/guides/month-end"


def test_unknown_guide_returns_404():
    assert Client().get("/docs/guides/operations").status_code == 404
    assert Client().get("/docs/guides/../README").status_code == 404


@pytest.mark.parametrize("path", ["/docs/guides/operations", "/docs/nothing", "/docs/", "/app/nothing"])
def test_unknown_url_returns_html_404_in_browser(client, path):
    answer = client.get(path, headers={"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"})
    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")
    assert "Page not found" in answer.content.decode()


@pytest.mark.parametrize("accept", [{}, {"accept": "*/*"}, {"accept": "application/json"}])
def test_unknown_documentation_url_returns_problem_json_to_programs(client, accept):
    answer = client.get("/docs/nothing", headers=accept)
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"
    assert "Accept" in answer["Vary"]


def test_guide_code_blocks_are_focusable_and_table_columns_are_named(client):
    for name in GUIDES:
        html = client.get(f"/docs/guides/{name}").content.decode()
        assert html.count("<pre") == html.count('<pre tabindex="0" role="group" aria-label="Example">'), name
        assert "<th></th>" not in html, name


@pytest.mark.parametrize(("name", "folds"), [("numbers", True), ("api-keys", False)])
def test_only_long_guides_have_collapsible_sections(client, name, folds):
    html = client.get(f"/docs/guides/{name}").content.decode()
    assert ('<details class="page-section">' in html) is folds
    assert html.count("<details") == html.count("</details>")
    assert html.count('<details class="page-section">') == (html.count("<h2") if folds else 0)


@pytest.mark.parametrize("path", ["/docs/guides", "/docs/guides/"])
def test_guides_without_a_name_lead_to_the_list_of_guides(path):
    page = Client().get(path, follow=True)
    assert page.redirect_chain == [("/docs/guides/month-end", 302)]

"""The documentation, followed to the letter on a machine of its own: every command runs and prints what is said."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.docs.markdown_page import PROGRAMS, Block, PageReader, build_environment, parse_blocks
from tests.machine import ROOT, Machine, create_prepared_machine, find_free_port
from tests.oauth_user import OAuthUser

pytestmark = pytest.mark.server
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])


def get_page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def list_commands(page: Path) -> list[Block]:
    """The blocks that are run; those of another machine are only read."""
    return [each for each in parse_blocks(page) if each.language in ("sh", *PROGRAMS) and each.remark != "elsewhere"]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Machine, int]]:
    port = find_free_port()
    with create_prepared_machine() as machine, machine.up(port, "--workers", "1"):
        yield machine, port


@pytest.fixture
def reader(served, tmp_path) -> PageReader:
    machine, port = served
    environment = build_environment(**machine.environment(PORT=port, HOME=tmp_path))
    return PageReader(home=tmp_path, address=f"http://127.0.0.1:{port}", environment=environment)


PASSWORD = "correct horse battery"  # as in the page


def build_visitor(reader: PageReader) -> Callable[[str], str]:
    """Opens addresses as the page's reader does: signs in once, chooses the company, allows."""

    def visit(address: str) -> str:
        company = reader.known["COMPANY"]
        who = OAuthUser(reader.address, email="you@example.com", password=PASSWORD, company_id=company)
        try:
            return who.allow_app(address)
        finally:
            who.session.close()

    return visit


# Blocks that are no commands, and what stands in them.
SHOWN = {"text": "what something looks like", "yaml": "a file", "ini": "a file", "nginx": "a file", "json": "an answer"}


@pytest.mark.parametrize("page", PAGES, ids=get_page_name)
def test_docs_code_blocks_have_known_language_and_remark(page):
    known = {"sh", *PROGRAMS, *SHOWN}
    assert not [block for block in parse_blocks(page) if block.language not in known]
    assert not [block for block in parse_blocks(page) if block.remark not in ("", "elsewhere")]


@pytest.mark.parametrize("page", [page for page in PAGES if list_commands(page)], ids=get_page_name)
def test_docs_commands_run_and_print_documented_output(reader, served, page, request):
    if any(block.language in PROGRAMS for block in parse_blocks(page)):
        request.getfixturevalue("node_modules")
        reader.visit = build_visitor(reader)
    reader.given = {
        "CALLBACK": lambda known, printed: f"'{reader.visit(printed.strip())}'",
        "KEY": lambda *_: served[0].companies["Acme"][1],  # as the first start prints one
    }
    assert reader.follow(page) == len(list_commands(page))


@pytest.mark.parametrize("page", PAGES, ids=get_page_name)
def test_docs_file_links_exist(page):
    links = re.findall(r"\]\((?!https?:|#|/)([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    assert not [link for link in links if not (page.parent / link).exists()]


def test_docs_show_every_screenshot():
    files = {path.name for path in (ROOT / "docs" / "screenshots").iterdir()}
    shown = {name for page in PAGES for name in re.findall(r"screenshots/([\w-]+\.webp)", page.read_text())}
    assert files == shown
    assert len(files) == 12


DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_decision_has_context_decision_and_consequences_on_one_page(page):
    text = page.read_text()
    assert re.findall(r"^## (.+)$", text, re.M) == ["Context", "Decision", "Consequences"]
    assert len(text.split()) <= 450
    assert f"({page.name})" in (page.parent / "README.md").read_text()

"""The documentation, followed to the letter on a machine of its own: every command runs and prints what is said."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.docs.page import PROGRAMS, Block, Reader, blocks, plain_environment
from tests.machine import ROOT, Machine, free_port, prepared_machine
from tests.person import Person

pytestmark = pytest.mark.server
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(page: Path) -> list[Block]:
    """The blocks that are run; those of another machine are only read."""
    return [each for each in blocks(page) if each.language in ("sh", *PROGRAMS) and each.remark != "elsewhere"]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Machine, int]]:
    port = free_port()
    with prepared_machine() as machine, machine.up(port, "--workers", "1"):
        yield machine, port


@pytest.fixture
def any_key(served) -> Callable[[], str]:
    """Makes a key such as the first start prints: of a company that is there already."""
    machine, _ = served

    def make() -> str:
        words = ("--name", "Demo", "--currency", "EUR", "--owner", "demo@example.com")
        company = machine.run("create_company", *words).stdout.strip()
        return machine.run("create_api_key", "--company", company).stdout.strip()

    return make


@pytest.fixture
def reader(served, tmp_path) -> Reader:
    machine, port = served
    environment = plain_environment(**machine.environment(PORT=port, HOME=tmp_path))
    return Reader(home=tmp_path, address=f"http://127.0.0.1:{port}", environment=environment)


PASSWORD = "correct horse battery"  # as in the page


def somebody(reader: Reader) -> Callable[[str], str]:
    """Opens addresses as the page's reader does: signs in once, chooses the company, allows."""

    def visit(address: str) -> str:
        company = reader.known["COMPANY"]
        who = Person(reader.address, email="you@example.com", password=PASSWORD, company_id=company)
        try:
            return who.visit(address)
        finally:
            who.session.close()

    return visit


# Blocks that are no commands, and what stands in them.
SHOWN = {"text": "what something looks like", "yaml": "a file", "ini": "a file", "nginx": "a file", "json": "an answer"}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page):
    known = {"sh", *PROGRAMS, *SHOWN}
    assert not [block for block in blocks(page) if block.language not in known]
    assert not [block for block in blocks(page) if block.remark not in ("", "elsewhere")]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name)
def test_every_command_of_a_page_runs_and_prints_what_is_said(reader, any_key, page, request):
    if any(block.language in PROGRAMS for block in blocks(page)):
        request.getfixturevalue("node_modules")
        reader.visit = somebody(reader)
    reader.given = {
        "CALLBACK": lambda known, printed: f"'{reader.visit(printed.strip())}'",
        "KEY": lambda *_: any_key(),
    }
    assert reader.follow(page) == len(commands(page))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_to_a_file_leads_somewhere(page):
    links = re.findall(r"\]\((?!https?:|#|/)([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    assert not [link for link in links if not (page.parent / link).exists()]

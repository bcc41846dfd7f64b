"""The page about OWASP ASVS: it leaves no requirement out, it counts right, and every test that it names is there."""

import re
from dataclasses import dataclass

import pytest

from tests.machine import ROOT

PAGE = (ROOT / "docs" / "asvs.md").read_text()
NUMBERS = (ROOT / "tests" / "data" / "asvs_5_numbers.txt").read_text()
NAMED_TEST = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
TO_FILL_IN = re.compile(r"TODO\([^)]*\)")
VERDICTS = ("held", "not held", "does not apply")


@dataclass(frozen=True)
class Requirement:
    """A requirement as the page judges it, and the chapter that it stands in."""

    chapter: str
    number: str
    level: str
    asks: str
    verdict: str
    why: str


def split_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def parse_rows() -> list[Requirement]:
    found, chapter = [], ""
    for line in PAGE.splitlines():
        if line.startswith("## "):
            chapter = line[3:]
        elif re.match(r"\| \d+\.\d+\.\d+ ", line):
            found.append(Requirement(chapter, *split_cells(line)))
    return found


ROWS = parse_rows()


def count_verdicts(wanted: list[Requirement]) -> list[str]:
    """As a line of the table at the top: all, held, not held, in part, does not apply."""
    held, not_held, apart = (sum(row.verdict == verdict for row in wanted) for verdict in VERDICTS)
    in_part = sum(row.why.startswith("in part: ") for row in wanted)
    return [str(number) for number in (len(wanted), held, not_held, in_part, apart)]


def test_asvs_page_lists_every_requirement_once_and_in_order():
    assert [f"{row.number} {row.level}" for row in ROWS] == NUMBERS.splitlines()
    assert len(ROWS) == 253
    assert [row for row in ROWS if row.number.split(".")[0] != row.chapter.split()[0]] == []


def test_asvs_requirements_all_have_verdict_and_reason():
    assert {row.verdict for row in ROWS} == set(VERDICTS)
    assert [row for row in ROWS if not row.asks or not row.why] == []
    assert [row for row in ROWS if row.verdict != "not held" and row.why.startswith("in part")] == []


def test_asvs_held_requirements_name_a_test_or_say_none():
    held = [row for row in ROWS if row.verdict == "held"]
    unproven = [row for row in held if not NAMED_TEST.search(row.why) and not TO_FILL_IN.search(row.why)]
    assert [row for row in unproven if not re.search(r"\(no test\)", row.why)] == []


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED_TEST.findall(PAGE))))
def test_asvs_named_tests_exist(path, name):
    assert re.search(rf"^def {name}\(", (ROOT / "tests" / path).read_text(), re.MULTILINE)


def test_asvs_test_names_all_match_the_pattern():
    """A name that the pattern of names misses would never be looked for."""
    assert len(re.findall(r"::|\btest_\w+:", PAGE)) == len(NAMED_TEST.findall(PAGE))


def test_asvs_page_has_no_placeholders():
    assert TO_FILL_IN.findall(PAGE) == []


def test_asvs_summary_table_counts_match():
    chapters = dict.fromkeys(row.chapter for row in ROWS)
    expected = [[chapter, *count_verdicts([row for row in ROWS if row.chapter == chapter])] for chapter in chapters]
    told = [split_cells(line) for line in PAGE.partition("## ")[0].splitlines() if re.match(r"\| (\d|All)", line)]
    assert told == [*expected, ["All", *count_verdicts(ROWS)]]

"""What proposals would have said of public spending, month by month: each month from the months before it.

    python -m tests.bench.spending DIRECTORY

DIRECTORY is a git directory of github.com/odileeds/council-spending-data, in which public bodies' own files are kept as
they published them: who was paid, and under which heading of their books. The heading stands for the category. Two
years of each body; the windows are those of the service.
"""

import csv
import io
import subprocess
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import NAMESPACE_URL, uuid5

from ledger.rules.calc.proposing import (
    ACCOUNT,
    COUNTERPARTY,
    LATEST,
    Proposal,
    Use,
    by_text,
    proposals,
    words_of,
)

# Directory → (who was paid, the heading, a text where there is one), by the names of columns.
BODIES = {
    "bradford": ("Supplier Name", "Expenditure category", None),
    "darlington/clean": ("Supplier", "Account", None),
    "gateshead/clean": ("Supplier ID(T)", "Cipfsubj(T)", None),
    "harrogate/clean": ("Supplier Name", "Expenditure Category", "Narrative"),
    "manchester/clean": ("Supplier Name", "Expenses Type", None),
    "networkrail/clean": ("Supplier Name", "Category Family", None),
}
FIRST, LAST = "2017-04", "2019-03"
Row = tuple[str, str, str]


@dataclass
class Known:
    """The latest uses of names, of first words, and of everything."""

    names: dict[str, deque[Use]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=LATEST["latest"])))
    words: dict[str, deque[tuple[frozenset[str], Use]]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=LATEST["alike"]))
    )
    all: deque[Use] = field(default_factory=lambda: deque(maxlen=LATEST["on_account"]))

    def proposed(self, name: str, text: str) -> list[Proposal]:
        if name in self.names:
            return proposals(COUNTERPARTY, Counter(self.names[name]).items())
        word = text.split(" ")[0]
        if word and word in self.words:
            return by_text(text, self.words[word])
        return proposals(ACCOUNT, Counter(self.all).items())

    def learn(self, name: str, text: str, use: Use) -> None:
        self.names[name].append(use)
        if word := text.split(" ")[0]:
            self.words[word].append((words_of(text), use))
        self.all.append(use)


@dataclass
class Score:
    rows: int = 0
    right: int = 0  # of the first proposals
    certain: int = 0
    certain_right: int = 0

    def add(self, found: list[Proposal], heading: str) -> None:
        self.rows += 1
        first = found[0] if found else None
        hit = first is not None and first.use == use_of(heading)
        self.right += hit
        if first is not None and first.certain:
            self.certain += 1
            self.certain_right += hit


def use_of(heading: str) -> Use:
    return Use(uuid5(NAMESPACE_URL, heading), "ga", None, None)


def months(directory: str, body: str) -> Iterator[list[Row]]:
    """The payments of each month."""
    listed = git(directory, "ls-tree", "--name-only", "HEAD", f"{body}/").splitlines()
    name, heading, text = BODIES[body]
    for path in sorted(listed):
        month = path.rpartition("/")[2][:7]
        if FIRST <= month <= LAST and path.endswith(".csv") and "processed" not in path:
            rows = csv.DictReader(io.StringIO(git(directory, "show", f"HEAD:{path}").lstrip("\ufeff")))
            yield [
                (each[name].strip().lower()[:100], each[heading].strip(), (each.get(text or "") or "").lower())
                for each in rows
                if each.get(name) and each.get(heading)
            ]


def git(directory: str, *words: str) -> str:
    done = subprocess.run(["git", "--git-dir", directory, *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def score(directory: str, body: str) -> Score:
    known, found = Known(), Score()
    for number, rows in enumerate(months(directory, body)):
        for name, heading, text in rows if number else ():  # the first month has nothing before it
            found.add(known.proposed(name, text), heading)
        for name, heading, text in rows:
            known.learn(name, text, use_of(heading))
    return found


def main(directory: str) -> None:
    total = Score()
    sys.stdout.write("| Body | Payments | First proposal right | Certain | Right among them |\n|---|---|---|---|---|\n")
    for body in BODIES:
        each = score(directory, body)
        for name in vars(total):
            setattr(total, name, getattr(total, name) + getattr(each, name))
        sys.stdout.write(line(body.partition("/")[0], each))
    sys.stdout.write(line("all", total))


def line(label: str, each: Score) -> str:
    shares = (each.right / each.rows, each.certain / each.rows, each.certain_right / (each.certain or 1))
    first, covered, precise = (f"{share:.1%}" for share in shares)
    return f"| {label} | {each.rows:,} | {first} | {covered} | {precise} |\n"


if __name__ == "__main__":
    main(sys.argv[1])

"""What proposals would have said of public spending, month by month: each month from the months before it.

    python -m tests.bench.spending DIRECTORY

DIRECTORY is a git directory of github.com/odileeds/council-spending-data, in which public bodies' own files are kept as
they published them: who was paid, and under which heading of their books. The heading stands for the category. Two
years of each body; the windows are those of the service, its department or area of service stands for the account.
"""

import csv
import io
import re
import subprocess
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from ledger.rules.calc.category_proposals import (
    COUNTERPARTY,
    HISTORY_LIMITS,
    CategoryLine,
    CategoryProposal,
    PastCategorization,
    TransactionTraits,
    extract_name_words,
    extract_text_words,
    propose_by_account_use,
    propose_by_name_words,
    propose_by_text,
    rank_proposals,
    weigh_choices,
)


class Columns(NamedTuple):
    """The names of a body's columns; None where it has none."""

    supplier: str
    heading: str
    amount: str
    account: str | None = None
    text: str | None = None


# By directory.
BODIES = {
    "bradford": Columns("Supplier Name", "Expenditure category", "Net Amount", "Service Label"),
    "darlington/clean": Columns("Supplier", "Account", "Invoice Line Value (net of VAT)", "Service"),
    "gateshead/clean": Columns("Supplier ID(T)", "Cipfsubj(T)", "Amount", "Strgrpcc(T)"),
    "harrogate/clean": Columns("Supplier Name", "Expenditure Category", "Net Amount", "Service Label", "Narrative"),
    "manchester/clean": Columns("Supplier Name", "Expenses Type", "Net Amount", "Service Area"),
    "networkrail/clean": Columns("Supplier Name", "Category Family", "Spend"),
}
FIRST, LAST = "2017-04", "2019-03"


class Payment(NamedTuple):
    name: str
    heading: str
    text: str
    account: str
    amount: Decimal

    @property
    def traits(self) -> TransactionTraits:
        return TransactionTraits(build_id(self.account), self.amount, extract_text_words(self.text))


@dataclass
class KnownUses:
    """The latest uses of names, of first words, and of accounts."""

    names: dict[str, deque[tuple[PastCategorization, TransactionTraits]]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=HISTORY_LIMITS["compared"]))
    )
    names_by_word: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    words: dict[str, deque[tuple[frozenset[str], PastCategorization]]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=HISTORY_LIMITS["alike"]))
    )
    accounts: dict[str, deque[PastCategorization]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=HISTORY_LIMITS["on_account"]))
    )

    def proposed(self, payment: Payment) -> list[CategoryProposal]:
        if payment.name in self.names:
            return self.of_name(payment)
        word = payment.text.split(" ")[0]
        if word and word in self.words:
            return propose_by_text(payment.text, self.words[word])
        if shared := self.of_name_words(payment.name):
            return propose_by_name_words(
                shared, self.list_directed_lines(payment, {each[0] for rows in shared.values() for each in rows})
            )
        uses = Counter(self.accounts[payment.account])
        return propose_by_account_use([*uses.items()], is_incoming=payment.amount > 0)

    def of_name(self, payment: Payment) -> list[CategoryProposal]:
        latest = list(reversed(self.names[payment.name]))
        counts = Counter(use for use, _ in latest[: HISTORY_LIMITS["latest"]])
        same_direction = self.list_directed_lines(payment, {payment.name})
        if len(counts) == 1:
            return rank_proposals(COUNTERPARTY, counts.items(), same_direction=same_direction)
        uses: list[tuple[CategoryLine, TransactionTraits]] = [
            ((use.category_id, use.pl_type), traits) for use, traits in latest if use in counts
        ]
        return rank_proposals(COUNTERPARTY, counts.items(), weigh_choices(payment.traits, uses), same_direction)

    def list_directed_lines(self, payment: Payment, names: set[str]) -> set[CategoryLine]:
        """What payments of these names in the direction of this one were for."""
        return {
            use.choice
            for name in names
            for use, traits in self.names[name]
            if (traits.amount > 0) == (payment.amount > 0)
        }

    def of_name_words(self, name: str) -> dict[str, list[tuple[str, PastCategorization, int]]]:
        shared: dict[str, list[tuple[str, PastCategorization, int]]] = {}
        for word in extract_name_words(name) & self.names_by_word.keys():
            rows: list[tuple[str, PastCategorization, int]] = []
            for other in self.names_by_word[word]:
                counts = Counter(use for use, _ in list(self.names[other])[-HISTORY_LIMITS["latest"] :])
                rows += [(other, use, count) for use, count in counts.items()]
                if len(rows) > HISTORY_LIMITS["rows_of_word"]:
                    break
            else:
                shared[word] = rows
        return shared

    def learn(self, payment: Payment) -> None:
        use = build_use(payment.heading)
        for new_word in extract_name_words(payment.name) if payment.name not in self.names else ():
            self.names_by_word[new_word].append(payment.name)
        self.names[payment.name].append((use, payment.traits))
        if word := payment.text.split(" ")[0]:
            self.words[word].append((extract_text_words(payment.text), use))
        self.accounts[payment.account].append(use)


@dataclass
class Score:
    rows: int = 0
    right: int = 0  # of the first proposals
    certain: int = 0
    certain_right: int = 0

    def add(self, found: list[CategoryProposal], heading: str) -> None:
        self.rows += 1
        first = found[0] if found else None
        hit = first is not None and first.categorization == build_use(heading)
        self.right += hit
        if first is not None and first.is_certain:
            self.certain += 1
            self.certain_right += hit


@cache
def build_id(text: str) -> UUID:
    return uuid5(NAMESPACE_URL, text)


def build_use(heading: str) -> PastCategorization:
    return PastCategorization(build_id(heading), "ga", None, None)


def read_months(directory: str, body: str) -> Iterator[list[Payment]]:
    """The payments of each month."""
    listed = run_git(directory, "ls-tree", "--name-only", "HEAD", f"{body}/").splitlines()
    columns = BODIES[body]
    for path in sorted(listed):
        month = path.rpartition("/")[2][:7]
        if FIRST <= month <= LAST and path.endswith(".csv") and "processed" not in path:
            rows = csv.DictReader(io.StringIO(run_git(directory, "show", f"HEAD:{path}").lstrip("\ufeff")))
            yield [
                Payment(
                    each[columns.supplier].strip().lower()[:100],
                    each[columns.heading].strip(),
                    (each.get(columns.text or "") or "").lower(),
                    (each.get(columns.account or "") or "").strip().lower(),
                    parse_amount(each.get(columns.amount) or ""),
                )
                for each in rows
                if each.get(columns.supplier) and each.get(columns.heading)
            ]


def parse_amount(text: str) -> Decimal:
    """An amount as the bodies write it; nothing where it is none."""
    result = re.search(r"[-(]?\d+(\.\d+)?", re.sub(r"[,£ ]", "", text))
    return Decimal(result[0].replace("(", "-")) if result else Decimal(0)


def run_git(directory: str, *words: str) -> str:
    done = subprocess.run(["git", "--git-dir", directory, *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def score_body(directory: str, body: str) -> Score:
    known, score = KnownUses(), Score()
    for number, payments in enumerate(read_months(directory, body)):
        for payment in payments if number else ():  # the first month has nothing before it
            score.add(known.proposed(payment), payment.heading)
        for payment in payments:
            known.learn(payment)
    return score


def main(directory: str) -> None:
    total = Score()
    sys.stdout.write("| Body | Payments | First proposal right | Certain | Right among them |\n|---|---|---|---|---|\n")
    for body in BODIES:
        each = score_body(directory, body)
        for name in vars(total):
            setattr(total, name, getattr(total, name) + getattr(each, name))
        sys.stdout.write(format_row(body.partition("/")[0], each))
    sys.stdout.write(format_row("all", total))


def format_row(label: str, each: Score) -> str:
    shares = (each.right / each.rows, each.certain / each.rows, each.certain_right / (each.certain or 1))
    first, covered, precise = (f"{share:.1%}" for share in shares)
    return f"| {label} | {each.rows:,} | {first} | {covered} | {precise} |\n"


if __name__ == "__main__":
    main(sys.argv[1])

"""Match bank transactions to open invoices: by numbers and references in texts, by party and amount, and by sums.

Pure functions: nothing is stored, and whoever calls decides which matches are applied.
"""

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple
from uuid import UUID

from ledger.calc.text_normalization import fold_words, strip_accents
from planning.calc.invoice_parties import normalize_party_name

MAX_SUMMED_INVOICES = 5
MAX_INVOICES_PER_SUM = 24  # of one party, oldest due day first, among which sums are looked for
MAX_EQUAL_CANDIDATES = 5  # invoices of one party with one amount that are proposed for a transaction
MAX_NUMBER_WORDS = 8  # words of a text that one number or reference can be spread over
MIN_NUMBER_LENGTH = 4  # a shorter number counts only where amount and party agree
MIN_PARTY_LENGTH = 4  # of the start of a longer name
YEARS = range(1900, 2101)  # numbers that are as likely a year
SCALE = 10**4  # amounts have at most four decimals
NAMED, AMOUNT, PARTY = 8, 4, 2  # weights of evidence
EVIDENCE = ("number", "reference", "amount", "sum", "counterparty")
WORDS = re.compile(r"[^\W_]+")

InvoiceKey = tuple[UUID, dt.date]


class OpenInvoice(NamedTuple):
    """An invoice, or another single planned payment, with an open amount."""

    planned_id: UUID
    original_date: dt.date
    due_date: dt.date
    amount: Decimal  # open; negative is money out
    currency: str
    account_id: UUID | None  # without one it may be paid on any
    party: str  # name of the counterparty; empty if there is none
    numbers: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    @property
    def key(self) -> InvoiceKey:
        return self.planned_id, self.original_date


class BankTransaction(NamedTuple):
    """A booked transaction that has an amount left to settle with."""

    id: UUID
    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID
    party: str  # as the bank names it
    text: str


class ProposedSettlement(NamedTuple):
    """What a transaction pays of an invoice, in the transaction's sign."""

    invoice: OpenInvoice
    amount: Decimal


@dataclass(frozen=True, slots=True)
class InvoiceMatch:
    """A transaction, the invoices that it pays, and why. Of equal candidates each is one, and `is_ambiguous`."""

    transaction: BankTransaction
    settlements: tuple[ProposedSettlement, ...]
    evidence: tuple[str, ...]
    is_ambiguous: bool

    @property
    def can_be_applied(self) -> bool:
        """Whether evidence is a number or a reference, amounts agree, and there is no equal candidate."""
        is_named = "number" in self.evidence or "reference" in self.evidence
        return is_named and not self.is_ambiguous and ("amount" in self.evidence or "sum" in self.evidence)


class Candidate(NamedTuple):
    transaction: BankTransaction
    invoices: tuple[OpenInvoice, ...]
    evidence: frozenset[str]

    @property
    def weight(self) -> int:
        """How strong the evidence is. A sum counts like an amount, but without a number less than one."""
        is_named = not self.evidence.isdisjoint({"number", "reference"})
        has_amount = not self.evidence.isdisjoint({"amount", "sum"})
        weight = NAMED * is_named + AMOUNT * has_amount + PARTY * ("counterparty" in self.evidence)
        return weight - ("sum" in self.evidence and not is_named)

    def is_possible(self, max_days: int | None, dismissed: Collection[tuple[UUID, UUID, dt.date]]) -> bool:
        """Whether its dates are near enough for its evidence, and no pair of it was dismissed."""
        row = self.transaction
        if dismissed and any((row.id, *invoice.key) in dismissed for invoice in self.invoices):
            return False
        if max_days is None or not self.evidence.isdisjoint({"number", "reference"}):
            return True
        return any(abs((row.date - invoice.due_date).days) <= max_days for invoice in self.invoices)


def match_invoices(
    invoices: Iterable[OpenInvoice],
    transactions: Iterable[BankTransaction],
    *,
    max_days: int | None = None,
    dismissed: Collection[tuple[UUID, UUID, dt.date]] = (),
) -> list[InvoiceMatch]:
    """Return matches with the strongest evidence first; each invoice and transaction counts at its strongest.

    Amounts must be in one direction and currency. A transaction that names an invoice may pay a part of it; sums are
    exact, of two to five invoices of one party.

    Args:
        max_days: largest distance of the due date and the payment, without a number or a reference.
        dismissed: (transaction, planned transaction, original date) that must not be paired.
    """
    index = InvoiceIndex(list(invoices))
    candidates_by_weight: defaultdict[int, list[Candidate]] = defaultdict(list)
    for row in transactions:
        for candidate in index.list_candidates(row):
            if candidate.is_possible(max_days, dismissed):
                candidates_by_weight[candidate.weight].append(candidate)
    matched_rows: set[UUID] = set()
    matched_invoices: set[InvoiceKey] = set()
    matches: list[InvoiceMatch] = []
    for weight in sorted(candidates_by_weight, reverse=True):
        level = [
            candidate
            for candidate in candidates_by_weight[weight]
            if candidate.transaction.id not in matched_rows
            and matched_invoices.isdisjoint(invoice.key for invoice in candidate.invoices)
        ]
        row_counts = Counter(each.transaction.id for each in level)
        invoice_counts = Counter(invoice.key for each in level for invoice in each.invoices)
        for candidate in level:
            is_ambiguous = row_counts[candidate.transaction.id] > 1 or any(
                invoice_counts[invoice.key] > 1 for invoice in candidate.invoices
            )
            matches.append(build_match(candidate, is_ambiguous=is_ambiguous))
        matched_rows.update(row_counts)
        matched_invoices.update(invoice_counts)
    return matches


def build_match(candidate: Candidate, *, is_ambiguous: bool) -> InvoiceMatch:
    """Return the match with the amounts it settles: never more than either side has."""
    amount = candidate.transaction.amount
    if len(candidate.invoices) == 1:
        (invoice,) = candidate.invoices
        settlements = [ProposedSettlement(invoice, min(amount, invoice.amount, key=abs))]
    else:
        settlements = [ProposedSettlement(invoice, invoice.amount) for invoice in candidate.invoices]
    evidence = tuple(name for name in EVIDENCE if name in candidate.evidence)
    return InvoiceMatch(candidate.transaction, tuple(settlements), evidence, is_ambiguous)


class InvoiceIndex:
    """Open invoices by what transactions are compared with."""

    def __init__(self, invoices: list[OpenInvoice]):
        self.by_name: defaultdict[str, list[tuple[OpenInvoice, str]]] = defaultdict(list)
        self.by_party: defaultdict[tuple[str, str], list[OpenInvoice]] = defaultdict(list)
        self.by_amount: defaultdict[tuple[str, str, Decimal], list[OpenInvoice]] = defaultdict(list)
        self.sums: dict[tuple[str, str], SumIndex] = {}
        self.parties: set[str] = set()
        for invoice in sorted(invoices, key=lambda each: (each.due_date, each.key)):
            for kind, names in (("number", invoice.numbers), ("reference", invoice.references)):
                for name in {fold_words(strip_accents(name)) for name in names} - {""}:
                    self.by_name[name].append((invoice, kind))
            party = normalize_party_name_cached(invoice.party)
            if party and invoice.amount:
                self.parties.add(party)
                self.by_party[party, invoice.currency].append(invoice)
                self.by_amount[party, invoice.currency, invoice.amount].append(invoice)
        self.names = NameIndex(self.by_name)

    def list_candidates(self, row: BankTransaction) -> list[Candidate]:
        """Return what a transaction could pay, whatever other transactions do."""
        party, (named, weakly_named) = self.find_party(row.party), self.find_named_invoices(row)
        candidates = []
        for invoice, kinds in named.values():
            evidence = set(kinds)
            if invoice.amount == row.amount:
                evidence.add("amount")
            if party and normalize_party_name_cached(invoice.party) == party:
                evidence.add("counterparty")
            candidates.append(Candidate(row, (invoice,), frozenset(evidence)))
        if len(candidates) > 1:
            candidates += build_named_sum(candidates, row)
        if party:
            candidates += [
                candidate
                for candidate in self.iter_equal_amounts(row, party, weakly_named)
                if candidate.invoices[0].key not in named
            ]
        return candidates if candidates or not party else list(self.iter_sums(row, party))

    def find_named_invoices(
        self, row: BankTransaction
    ) -> tuple[dict[InvoiceKey, tuple[OpenInvoice, set[str]]], set[InvoiceKey]]:
        """Return the invoices that a transaction names, with `number` or `reference`, and those it may name.

        The latter have a number that is short or could be a year.
        """
        named: dict[InvoiceKey, tuple[OpenInvoice, set[str]]] = {}
        weakly_named: set[InvoiceKey] = set()
        for name in self.names.find_in(row.text):
            for invoice, kind in self.by_name[name]:
                if invoice.currency != row.currency or invoice.amount * row.amount <= 0:
                    continue
                if is_distinctive(name):
                    named.setdefault(invoice.key, (invoice, set()))[1].add(kind)
                else:
                    weakly_named.add(invoice.key)
        return named, weakly_named

    def find_party(self, name: str) -> str:
        """Return the party of an invoice that the bank's name of a party begins with; empty if there is none."""
        words = normalize_party_name_cached(name).split()
        for count in range(len(words), 0, -1):
            start = normalize_party_name_cached(" ".join(words[:count]))
            if start in self.parties and (count == len(words) or len(start) >= MIN_PARTY_LENGTH):
                return start
        return ""

    def iter_equal_amounts(
        self, row: BankTransaction, party: str, weakly_named: set[InvoiceKey]
    ) -> Iterator[Candidate]:
        """Yield the invoices of a party with exactly the amount of a transaction."""
        invoices = [
            invoice
            for invoice in self.by_amount.get((party, row.currency, row.amount), ())
            if invoice.account_id in (None, row.account_id)
        ]
        for invoice in invoices[:MAX_EQUAL_CANDIDATES]:
            evidence = {"amount", "counterparty"} | ({"number"} if invoice.key in weakly_named else set())
            yield Candidate(row, (invoice,), frozenset(evidence))

    def iter_sums(self, row: BankTransaction, party: str) -> Iterator[Candidate]:
        """Yield at most two sets of invoices of a party whose sum is the amount of a transaction."""
        key = party, row.currency
        if len(self.by_party.get(key, ())) < 2:
            return
        if key not in self.sums:
            self.sums[key] = SumIndex(self.by_party[key][:MAX_INVOICES_PER_SUM])
        for invoices in self.sums[key].find_invoice_sets(row.amount):
            if all(invoice.account_id in (None, row.account_id) for invoice in invoices):
                yield Candidate(row, invoices, frozenset({"sum", "counterparty"}))


def build_named_sum(candidates: Sequence[Candidate], row: BankTransaction) -> list[Candidate]:
    """Return one candidate for all invoices that a transaction names, if they are one party's and their sum is its
    amount.
    """
    invoices = tuple(each.invoices[0] for each in candidates)
    parties = {normalize_party_name_cached(invoice.party) for invoice in invoices}
    total = sum((invoice.amount for invoice in invoices), Decimal(0))
    if len(parties) > 1 or len(invoices) > MAX_SUMMED_INVOICES or total != row.amount:
        return []
    evidence = frozenset.union(*(each.evidence for each in candidates)) - {"amount"} | {"sum"}
    return [Candidate(row, invoices, evidence)]


class SumIndex:
    """Sums of two and three invoices of one party, from which larger sums are put together."""

    def __init__(self, invoices: Sequence[OpenInvoice]):
        self.invoices = invoices
        amounts = [int(invoice.amount * SCALE) for invoice in invoices]
        self.pairs: defaultdict[int, list[tuple[int, ...]]] = defaultdict(list)
        self.triples: defaultdict[int, list[tuple[int, ...]]] = defaultdict(list)
        for size, sums in ((2, self.pairs), (3, self.triples)):
            for places in combinations(range(len(amounts)), size):
                sums[sum(amounts[place] for place in places)].append(places)

    def find_invoice_sets(self, amount: Decimal) -> list[tuple[OpenInvoice, ...]]:
        """Return at most two sets of two to five invoices with this sum, smallest first."""
        results: list[tuple[OpenInvoice, ...]] = []
        for places in self.iterate_index_sets(int(amount * SCALE)):
            results.append(tuple(self.invoices[place] for place in places))
            if len(results) == 2:
                break
        return results

    def iterate_index_sets(self, target: int) -> Iterator[tuple[int, ...]]:
        yield from self.pairs.get(target, ())
        yield from self.triples.get(target, ())
        for rest_sums in (self.pairs, self.triples):  # two and two, then two and three
            for first_sum in [each for each in self.pairs if target - each in rest_sums]:
                firsts, rests = self.pairs[first_sum], rest_sums[target - first_sum]
                yield from (first + rest for first in firsts for rest in rests if first[-1] < rest[0])


class NameIndex:
    """Numbers and references, to be found in texts."""

    def __init__(self, names: Iterable[str]):
        self.names = set(names)
        self.beginnings = {name[:length] for name in self.names for length in range(1, len(name) + 1)}

    def find_in(self, text: str) -> list[str]:
        """Return the names that occur in a text as whole words, however they are punctuated.

        One that is a part of a longer one does not count.

        >>> NameIndex(["nw202617", "202617", "17"]).find_in("Invoice NW-2026/17 thanks")
        ['nw202617']
        """
        words = WORDS.findall(strip_accents(text).casefold())
        results: list[str] = []
        covered_to = 0
        for start in range(len(words)):
            name, longest, longest_end = "", "", 0
            for end in range(start, min(start + MAX_NUMBER_WORDS, len(words))):
                name += words[end]
                if name not in self.beginnings:
                    break
                if name in self.names:
                    longest, longest_end = name, end + 1
            if longest_end > covered_to:
                results.append(longest)
                covered_to = longest_end
        return results


def is_distinctive(name: str) -> bool:
    """Whether a number is long enough, and no year, to mean an invoice wherever it stands."""
    has_digit = any(sign.isdigit() for sign in name)
    return has_digit and len(name) >= MIN_NUMBER_LENGTH and not (name.isdecimal() and int(name) in YEARS)


@lru_cache(maxsize=20_000)
def normalize_party_name_cached(name: str) -> str:
    return normalize_party_name(name)

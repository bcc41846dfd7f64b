"""Trying rules on what is there already, applying them to it, and taking a run of that back."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from companies.changing import Change, changing
from companies.models import Among, Company, Stamp, id_from
from ledger.bulk.statistics import gather_after
from ledger.models import RULE_NOTE, Categorization, CategorizationRun, Category, Counterparty
from ledger.purposes.categorizing import Choice, Fact, give, tax_of
from ledger.recognition.dating import Rule
from ledger.recognition.posting import LINES, lines_from, unpost
from ledger.recognition.totals import retotal
from ledger.rules.assigning import note_matched, possible
from ledger.rules.calc.matching import Movement
from ledger.rules.rulebook import Rulebook, rule_named, rulebook
from ledger.transactions import undoing
from ledger.transactions.selections import selected
from ledger.transactions.touching import touched
from ledger.transactions.undoing import TakenBack

ROWS_AT_ONCE = 20_000
MOST_SAMPLE = 100
EVERYTHING = {"mode": "all", "confirm": True}

COLUMNS = (
    *("id", "date", "amount_value", "amount_currency", "from_to", "description", "account_id"),
    *("pending", "exclude_from_auto_categorization", "categorizations_auto_assigned"),
    *("categorized_value", "transferred_value"),
)
STANDING = (
    *("category_id", "counterparty_id", "rule", "rule_start_date", "rule_end_date", "invoice_date"),
    *("pass_through_tax", "source_note"),
)
MOST_BEFORE = 5  # runs one upon the other that can all be taken back


class Standing(NamedTuple):
    """What a rule gave a transaction; of a run also which one, and what that found."""

    choice: Choice
    run_id: UUID | None
    replaced: dict[str, Any] | None


class Seen(NamedTuple):
    """A transaction that a rule matches."""

    fact: Fact
    rule_id: UUID | None
    choice: Choice
    changes: bool  # whether applying would change it
    stands: Standing | None  # what a rule gave it before


def matched(company: Company, rows: Any, rules: Rulebook) -> Iterator[list[Seen]]:
    """Those of the transactions that a rule matches, some thousand at a time, in the order of their ids.

    Two statements for each thousand, and a third where a rule asks for a counterparty.
    """
    rows = rows.order_by("id")
    chunk = list(rows.values_list(*COLUMNS)[:ROWS_AT_ONCE])
    while chunk:
        yield list(seen(company, chunk, rules))
        if len(chunk) < ROWS_AT_ONCE:
            return
        chunk = list(rows.filter(id__gt=chunk[-1][0]).values_list(*COLUMNS)[:ROWS_AT_ONCE])


def seen(company: Company, chunk: list[Any], rules: Rulebook) -> Iterator[Seen]:
    parts = Categorization.objects.of(company.id).filter(transaction__gte=chunk[0][0], transaction__lte=chunk[-1][0])
    standing, touched = standing_of(parts)
    people = people_of(parts) if rules.looks_at_parts else {}
    can = possible(company)
    for row in chunk:
        row_id, day, amount, currency, from_to, description, account_id, pending, excluded, auto, value, moved = row
        stands = standing.get(row_id) if auto else None
        own = frozenset() if auto else people.get(row_id, frozenset())  # of what rules gave, they are no reason
        verdict = rules.matcher.first(Movement(from_to, description, amount, currency, account_id, own))
        if verdict is None:
            continue
        fact = Fact(row_id, day, amount, currency, moved, counts=not pending)
        waits = value == moved == 0 != amount and row_id not in touched
        changes = waits or (stands is not None and differs(fact, stands.choice, verdict.choice))
        changes = changes and not (pending or excluded) and can(fact, verdict.choice)
        yield Seen(fact, verdict.rule_id, verdict.choice, changes, stands)


def standing_of(parts: Any) -> tuple[dict[UUID, Standing], set[UUID]]:
    """(what rules gave, by transaction; transactions whose parts come to nothing)"""
    found = parts.filter(Q(source_note__startswith=RULE_NOTE) | Q(value=0))
    standing, touched = {}, set()
    columns = ("transaction_id", "value", "run_id", "replaced", *STANDING, *LINES)
    for row_id, value, run_id, replaced, *rest in found.values_list(*columns):
        *facts, tax, note = rest[: len(STANDING)]
        lines = lines_from(rest[len(STANDING) :])
        if note and note.startswith(RULE_NOTE) and len(lines) == 1:
            category_id, counterparty_id, *dates = facts
            choice = Choice(category_id, lines[0][0], counterparty_id, Rule(*dates), tax, source_note=note)
            standing[row_id] = Standing(choice, run_id, replaced)
        if not value:
            touched.add(row_id)
    return standing, touched


def people_of(parts: Any) -> dict[UUID, frozenset[object]]:
    """The counterparties of transactions' parts."""
    found: dict[UUID, set[object]] = {}
    for row_id, counterparty_id in parts.filter(counterparty__isnull=False).values_list(
        "transaction_id", "counterparty_id"
    ):
        found.setdefault(row_id, set()).add(counterparty_id)
    return {row_id: frozenset(people) for row_id, people in found.items()}


def differs(fact: Fact, stands: Choice, wanted: Choice) -> bool:
    """Whether the rule would give something else than what stands."""
    of_both = [
        (each.category_id, each.pl_type, each.counterparty_id, each.rule, each.source_note, tax_of(fact, each) or 0)
        for each in (stands, wanted)
    ]
    return of_both[0] != of_both[1]


# ---------------------------------------------------------------------------------------------- trying


@dataclass(slots=True)
class Preview:
    """What rules match, and what applying them would change."""

    matched: int = 0
    changed: int = 0
    counts: Counter[UUID | None] = field(default_factory=Counter)  # of the matched, by rule
    sample: list[dict[str, Any]] = field(default_factory=list)  # of those that would change

    @property
    def by_rule(self) -> list[dict[str, Any]]:
        return told(self.counts)


def told(counts: Counter[UUID | None]) -> list[dict[str, Any]]:
    """Counts by rule, the highest first."""
    return [{"rule_id": rule_id, "count": count} for rule_id, count in counts.most_common()]


def preview(*, company: Company, rules: Rulebook, selection: dict[str, Any] | None = None) -> Preview:
    """What rules would do to a selection, or to everything; stores nothing.

    Raises what ``selected`` raises; no confirmation is needed to look.
    """
    asked = EVERYTHING if selection is None else selection | {"confirm": True}
    found = Preview()
    for chunk in matched(company, selected(company, asked), rules):
        found.matched += len(chunk)
        found.counts.update(each.rule_id for each in chunk)
        changing_ones = [each for each in chunk if each.changes]
        found.changed += len(changing_ones)
        found.sample += [
            {"transaction_id": each.fact.id, "rule_id": each.rule_id, "category_id": each.choice.category_id}
            for each in changing_ones[: MOST_SAMPLE - len(found.sample)]
        ]
    return found


# ---------------------------------------------------------------------------------------------- applying


@dataclass(slots=True)
class Applied:
    run_id: UUID
    counts: Counter[UUID | None] = field(default_factory=Counter)

    @property
    def affected(self) -> int:
        return self.counts.total()

    @property
    def by_rule(self) -> list[dict[str, Any]]:
        return told(self.counts)


def apply(*, company: Company, stamp: Stamp, selection: dict[str, Any]) -> Applied:
    """Gives the selected transactions to what the rules say: those that wait, and those that rules were assigned to.

    Raises what ``selected`` raises.
    """
    with changing(company, stamp=stamp) as change:
        run = CategorizationRun.objects.create(company=company, created_time=stamp.time, created_user_id=stamp.actor)
        done, rules = Applied(run.id), rulebook(company)
        ids: list[UUID] = []
        for chunk in matched(company, selected(company, selection), rules):
            given = [each for each in chunk if each.changes]
            if given:
                replaced = {each.fact.id: as_json(each.stands) for each in given if each.stands}
                pairs = [(each.fact, each.choice) for each in given]
                give(change, pairs, automatic=True, run_id=run.id, replaced=replaced)
                done.counts.update(each.rule_id for each in given)
                ids += [fact.id for fact, _ in pairs]
        note_matched(change, {rule_id: count for rule_id, count in done.counts.items() if rule_id})
        run.affected = done.affected
        run.save(update_fields=["affected"])
        gather_after("ledger_categorization", "ledger_posting", rows=done.affected, company_id=company.id)
        after = {"affected": done.affected}
        entry = change.record_many("transactions.rulesApplied", "categorizationRun", entity_id=run.id, after=after)
        touched(change, entry, ids)
    return done


def as_json(stands: Standing) -> dict[str, Any]:
    """What stood there as a part keeps it that stands in its place."""
    choice = stands.choice
    rule = choice.rule
    return {
        "run_id": str(stands.run_id) if stands.run_id else None,
        "replaced": shortened(stands.replaced, MOST_BEFORE),
        "category_id": str(choice.category_id),
        "pl_type": choice.pl_type,
        "counterparty_id": str(choice.counterparty_id) if choice.counterparty_id else None,
        "rule": [rule.type, *(day.isoformat() if day else None for day in (rule.start, rule.end, rule.invoice_date))],
        "pass_through_tax": None if choice.pass_through_tax is None else str(choice.pass_through_tax),
        "source_note": choice.source_note,
    }


def shortened(kept: dict[str, Any] | None, most: int) -> dict[str, Any] | None:
    """What was found by so many runs, one upon the other."""
    if kept is None or not kept.get("replaced"):
        return kept
    if most > 1:
        return kept | {"replaced": shortened(kept["replaced"], most - 1)}
    return kept | {"replaced": None, "run_id": None}


# ---------------------------------------------------------------------------------------------- taking back


def take_back(*, company: Company, stamp: Stamp, run_id: UUID | str) -> TakenBack:
    """Undoes a run where nobody has touched what it did: what waited waits again, what a rule gave before is back.

    One of an act by hand is taken back as ``undoing`` says. Raises Missing, NoRate.
    """
    with changing(company, stamp=stamp) as change:
        run = change.locked(CategorizationRun, run_id)
        if run.by_hand:
            return undoing.take_back(company=company, stamp=stamp, run_id=run.id)
        parts = Categorization.objects.of(company.id).filter(run=run)
        taken: Counter[UUID | None] = Counter()
        ids: list[UUID] = []
        while some := untouched(parts):
            take_back_some(change, some)
            taken.update(rule_named(each.note) for each in some)
            ids += [each.fact.id for each in some]
        parts.update(run=None, replaced=None)
        note_matched(change, {rule_id: -count for rule_id, count in taken.items() if rule_id})
        done = TakenBack(affected=taken.total(), kept_count=run.affected - taken.total())
        run.delete()
        after = {"affected": done.affected, "kept": done.kept_count}
        entry = change.record_many("transactions.runTakenBack", "categorizationRun", entity_id=run.id, after=after)
        touched(change, entry, ids)
    return done


class Untouched(NamedTuple):
    fact: Fact
    note: str | None
    replaced: dict[str, Any] | None


def untouched(parts: Any) -> list[Untouched]:
    """Some thousand of a run's parts that still stand as it gave them."""
    rows = (
        parts.filter(transaction__categorizations_auto_assigned=True)
        .order_by("id")
        .values_list(
            *(
                f"transaction__{name}"
                for name in ("id", "date", "amount_value", "amount_currency", "transferred_value")
            ),
            *("transaction__pending", "source_note", "replaced"),
        )
    )
    return [
        Untouched(Fact(row_id, day, amount, currency, moved, counts=not pending), note, replaced)
        for row_id, day, amount, currency, moved, pending, note, replaced in rows[:ROWS_AT_ONCE]
    ]


def take_back_some(change: Change, some: list[Untouched]) -> None:
    company = change.company
    categories = dict(Category.objects.of(company.id).values_list("id", "pl_types"))
    people = {id_from(each.replaced["counterparty_id"] or "") for each in some if each.replaced}
    known = set(Counterparty.objects.of(company.id).filter(id__in=people - {None}).values_list("id", flat=True))
    before = [(each, was(each.replaced, categories, known)) for each in some]
    by_run: dict[UUID | None, list[tuple[Fact, Choice]]] = {}
    found: dict[UUID, dict[str, Any]] = {}  # by runs that can be taken back still
    runs = set(CategorizationRun.objects.of(company.id).values_list("id", flat=True))
    for each, choice in before:
        if choice and each.replaced:
            run_id = id_from(each.replaced.get("run_id") or "")
            by_run.setdefault(run_id if run_id in runs else None, []).append((each.fact, choice))
            if each.replaced.get("replaced"):
                found[each.fact.id] = each.replaced["replaced"]
    for run_id, choices in by_run.items():
        give(change, choices, automatic=True, run_id=run_id, replaced=found if run_id else None)
    opened = [each.fact.id for each, choice in before if choice is None]
    unpost(company=company, transaction_ids=opened)
    Categorization.objects.of(company.id).filter(Among("transaction_id", opened)).unlinked().delete()
    retotal(change, opened)


def was(kept: dict[str, Any] | None, categories: dict[UUID, list[str]], people: set[UUID]) -> Choice | None:
    """What stood there before the run; nothing where what it refers to has gone since."""
    if kept is None:
        return None
    category_id, person = UUID(kept["category_id"]), id_from(kept["counterparty_id"] or "")
    if kept["pl_type"] not in categories.get(category_id, ()) or (person and person not in people):
        return None
    kind, *days = kept["rule"]
    tax = kept["pass_through_tax"]
    return Choice(
        category_id,
        kept["pl_type"],
        person,
        Rule(kind, *(date.fromisoformat(day) if day else None for day in days)),
        None if tax is None else Decimal(tax),
        source_note=kept["source_note"],
    )

"""What arrives and nobody has categorized: the first rule that matches says what it is for, then the company's own
history where it is certain and the company wants it, then the default category of the account.

``assign`` is called by whatever brings transactions: imports, statements, bookings, and edits of what rules look at.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, F, OuterRef

from companies.changing import Change, changing
from companies.models import Company, Stamp
from ledger.bulk.statistics import gather_after
from ledger.calc.fx import MissingRate, convert
from ledger.models import Account, Categorization, CategorizationRule, Transaction
from ledger.money.rates import rate_table
from ledger.purposes.categorizing import Choice, Fact, give
from ledger.recognition.dating import PeriodOutOfRange, PeriodTooLong, Rule, period
from ledger.recognition.posting import LINES, lines_from
from ledger.rules.calc.matching import Movement
from ledger.rules.habits import OF_ACCOUNT, OF_HISTORY, certain
from ledger.rules.rulebook import Rulebook, rule_named, rulebook

ROWS_AT_ONCE = 20_000
LOOKED_AT = {"from_to", "description", "amount_value", "amount_currency", "pending", "exclude_from_auto_categorization"}
FOLLOWED = {"amount_value", "amount_currency"}  # by a part that no person gave


class Arrived(NamedTuple):
    """A movement that waits, and what categorizing needs to know of it."""

    fact: Fact
    movement: Movement


COLUMNS = ("id", "date", "amount_value", "amount_currency", "from_to", "description", "account_id")


def waiting(rows: Any) -> Any:
    """Those among the transactions that nobody and nothing has categorized and that rules may speak about."""
    own = {"company_id": OuterRef("company_id"), "transaction_id": OuterRef("id")}
    return rows.unassigned().filter(~Exists(Categorization.objects.filter(**own)))


def in_chunks(rows: Any) -> Iterator[list[Arrived]]:
    """They, some thousand at a time, in the order of their ids."""
    rows = rows.order_by("id")
    chunk = list(rows.values_list(*COLUMNS)[:ROWS_AT_ONCE])
    while chunk:
        yield [arrived(*row) for row in chunk]
        if len(chunk) < ROWS_AT_ONCE:
            return
        chunk = list(rows.filter(id__gt=chunk[-1][0]).values_list(*COLUMNS)[:ROWS_AT_ONCE])


def arrived(
    row_id: UUID, day: Any, amount: Decimal, currency: str, from_to: str, description: str, account_id: UUID
) -> Arrived:
    fact = Fact(row_id, day, amount, currency, Decimal(0), counts=True)
    return Arrived(fact, Movement(from_to, description, amount, currency, account_id))


@dataclass(slots=True)
class Assigned:
    """How many got a category, by who said it: rules by their ids, history and accounts by their names."""

    by_source: Counter[Any] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        return self.by_source.total()

    def in_log(self) -> dict[str, Any]:
        """For the entry of what brought them; nothing where nothing was assigned."""
        return {"assigned": {str(source): n for source, n in self.by_source.items()}} if self.count else {}


def assign(change: Change, rows: Any) -> Assigned:
    """Gives the waiting ones among the transactions to what rules, history and accounts say; the caller logs it.

    ``rows`` are transactions of the company that have just come. A constant number of statements for some thousand of
    them, and two where there is nothing that could be said.
    """
    company, done = change.company, Assigned()
    rules, defaults = rulebook(company), default_choices(company)
    if not (rules or defaults or company.auto_categorize):
        return done
    can = possible(company)
    for chunk in in_chunks(waiting(rows)):
        assign_some(change, said(company, chunk, rules, defaults), done, can=can)
    if done.count:
        note_matched(change, {rule_id: n for rule_id, n in done.by_source.items() if isinstance(rule_id, UUID)})
        gather_after("ledger_categorization", "ledger_posting", rows=done.count, company_id=company.id)
    return done


def said(
    company: Company, chunk: list[Arrived], rules: Rulebook, defaults: Mapping[UUID, Choice]
) -> Iterator[tuple[Any, Fact, Choice]]:
    """(who says it, what of, what it is for)"""
    left = []
    for each in chunk:
        verdict = rules.matcher.first(each.movement)
        if verdict:
            yield verdict.rule_id, each.fact, verdict.choice
        else:
            left.append(each)
    sure = certain(company, [each.fact.id for each in left]) if company.auto_categorize and left else {}
    for each in left:
        if use := sure.get(each.fact.id):
            yield OF_HISTORY, each.fact, Choice(*use[:3], source_note=OF_HISTORY)
        elif default := defaults.get(each.movement.account_id):  # type: ignore[call-overload]
            yield OF_ACCOUNT, each.fact, default


def default_choices(company: Company) -> dict[UUID, Choice]:
    """What accounts say of everything that is booked into them: their default category's first line."""
    found = Account.objects.of(company.id).filter(default_category__isnull=False)
    rows = found.values_list("id", "default_category_id", "default_category__pl_types")
    return {
        account_id: Choice(category_id, lines[0], source_note=OF_ACCOUNT)
        for account_id, category_id, lines in rows
        if category_id
    }


def assign_some(
    change: Change,
    choices: Iterable[tuple[Any, Fact, Choice]],
    done: Assigned,
    *,
    can: Callable[[Fact, Choice], bool],
) -> None:
    given = [each for each in choices if can(each[1], each[2])]
    if given:
        give(change, [(fact, choice) for _, fact, choice in given], automatic=True)
        done.by_source.update(source for source, _, _ in given)


def possible(company: Company) -> Callable[[Fact, Choice], bool]:
    """Whether a transaction can be given to a choice: nobody asked for it, so nobody is refused."""
    rates = rate_table()

    def can(fact: Fact, choice: Choice) -> bool:
        try:
            if choice.rule.type != Rule().type:
                period(choice.rule, day=fact.day, known_invoice_date=None, moves_revenue=False, has_revenue=False)
            if fact.currency != company.base_currency:
                convert(fact.amount, source=fact.currency, target=company.base_currency, day=fact.day, rates=rates)
        except (MissingRate, PeriodOutOfRange, PeriodTooLong):
            return False
        return True

    return can


def note_matched(change: Change, counts: Mapping[UUID, int]) -> None:
    """Remembers how often rules were assigned, and when the last time; counts that were taken back are negative."""
    rules = CategorizationRule.objects.of(change.company.id)
    for rule_id, count in counts.items():
        rules.filter(id=rule_id).update(matched_count=F("matched_count") + count, last_matched_time=change.stamp.time)


# ---------------------------------------------------------------------------------------------- one by hand


def booked(*, company: Company, transaction: Transaction, stamp: Stamp) -> None:
    """One was booked by hand."""
    with changing(company, stamp=stamp) as change:
        take_in(change, transaction)


def edited(*, company: Company, transaction: Transaction, changed: set[str], stamp: Stamp) -> None:
    """One was changed: a part that nobody decided follows its amount; one that waits is looked at again."""
    with changing(company, stamp=stamp) as change:
        if transaction.categorizations_auto_assigned:
            if changed & FOLLOWED:
                follow_amount(change, transaction)
        elif changed & LOOKED_AT:
            take_in(change, transaction)


def take_in(change: Change, transaction: Transaction) -> None:
    if assign(change, Transaction.objects.of(change.company.id).filter(id=transaction.id)).count:
        transaction.categorized_value, transaction.categorizations_auto_assigned = transaction.amount_value, True


def follow_amount(change: Change, transaction: Transaction) -> None:
    """The whole of the transaction stays for what it was for. Raises NoRate."""
    company = change.company
    part = Categorization.objects.of(company.id).filter(transaction=transaction).get()
    rule_id = rule_named(part.source_note)
    rule = CategorizationRule.objects.of(company.id).filter(id=rule_id).first() if rule_id else None
    percent = rule.pass_through_tax_percent if rule else percent_of(part)
    fact = Fact(
        transaction.id,
        transaction.date,
        transaction.amount_value,
        transaction.amount_currency,
        Decimal(0),
        counts=not transaction.pending,
    )
    give(change, [(fact, choice_of_part(part, percent))], automatic=True)


def choice_of_part(part: Categorization, percent: Decimal | None) -> Choice:
    ((line, _),) = lines_from(getattr(part, line) for line in LINES)
    return Choice(
        category_id=part.category_id,
        pl_type=line,
        counterparty_id=part.counterparty_id,
        rule=Rule(part.rule, part.rule_start_date, part.rule_end_date, part.invoice_date),
        tax_percent=percent,
        source_note=part.source_note,
    )


def percent_of(part: Categorization) -> Decimal | None:
    """The tax as a percentage, where the rule that said it is gone."""
    tax = part.pass_through_tax
    return 100 * tax / (part.value - tax) if tax and part.value != tax else None

"""Category proposals from the company's own history.

What history and account defaults assigned automatically is never counted, so that a guess does not confirm
itself. For a name, a word and an account only the latest transactions count: changed habits show soon, and
time does not grow with the history.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Left, Lower

from companies.closed_periods import is_day_closed
from companies.models import Company, IdIn
from ledger.models import TRANSFER_SYSTEM_KEY, Category, Transaction
from ledger.models.transactions import MAX_INDEXED_NAME_LENGTH, FirstWord
from ledger.recognition.actions.postings import PL_TYPES
from ledger.rules.calc.category_proposals import (
    COUNTERPARTY,
    HISTORY_LIMITS,
    CategoryLine,
    CategoryProposal,
    PastCategorization,
    TransactionTraits,
    build_transfer_proposal,
    extract_name_words,
    extract_text_words,
    propose_by_account_use,
    propose_by_name_words,
    propose_by_text,
    rank_proposals,
    weigh_choices,
)
from ledger.rules.calc.parties import is_own_party
from ledger.rules.queries.company_identity import load_company_identity

UUID7_RANDOM_BITS = 80  # behind the milliseconds of a time-ordered id
HISTORY_NOTE, ACCOUNT_NOTE = "history", "account"  # the sourceNote of what they say
NOT_AUTO_ASSIGNED = Q(source_note__isnull=True) | ~Q(source_note__in=(HISTORY_NOTE, ACCOUNT_NOTE))


class ProposalSubject(NamedTuple):
    """A transaction that needs a category."""

    id: UUID
    name: str  # of its other side, as the index has it
    from_to: str
    description: str
    account_id: UUID
    amount: Decimal
    first_word: str  # of its description, as the index has it
    date: date

    @property
    def is_incoming(self) -> bool:
        return self.amount > 0

    @property
    def traits(self) -> TransactionTraits:
        return TransactionTraits(self.account_id, self.amount, extract_text_words(self.description))


def propose_categories(company: Company, transaction_ids: list[UUID]) -> dict[UUID, list[CategoryProposal]]:
    """Return proposals by transaction id, the best first, without unknown ids. At most twelve statements for all.

    A transaction whose other party is the company itself is proposed as a transfer only. Of the others,
    transactions of the same counterparty come first; without any, those whose text begins alike, then those
    whose names share a word, then those on the same account. Transactions of closed months have no proposals.
    """
    subjects = list_proposal_subjects(company, transaction_ids)
    closed: dict[UUID, list[CategoryProposal]] = {
        subject.id: [] for subject in subjects if is_day_closed(company, subject.date)
    }
    open_subjects = [subject for subject in subjects if subject.id not in closed]
    transfers = propose_transfer_categories(company, open_subjects)
    others = [subject for subject in open_subjects if subject.id not in transfers]
    by_name = propose_by_name(company, others)
    unknown_subjects = [subject for subject in others if subject.id not in by_name]
    return (
        closed
        | transfers
        | by_name
        | (propose_for_unknown_counterparties(company, unknown_subjects) if unknown_subjects else {})
    )


def find_certain_categories(company: Company, transaction_ids: list[UUID]) -> dict[UUID, PastCategorization]:
    """Return the certain categorization by transaction id; never for a transfer between own accounts."""
    subjects = list_proposal_subjects(company, transaction_ids)
    own = propose_transfer_categories(company, subjects)
    by_name = propose_by_name(company, [subject for subject in subjects if subject.id not in own], only_certain=True)
    return {row_id: best.categorization for row_id, (best, *_) in by_name.items() if best.is_certain}


def list_proposal_subjects(company: Company, transaction_ids: list[UUID]) -> list[ProposalSubject]:
    """Return the transactions with what proposals need; one statement."""
    subjects = Transaction.objects.for_company(company.id).filter(IdIn("id", transaction_ids)).order_by()
    name, first_word = Lower(Left("from_to", MAX_INDEXED_NAME_LENGTH)), Lower(FirstWord("description"))
    columns = ("id", name, "from_to", "description", "account_id", "amount_value", first_word, "date")
    return [ProposalSubject(*row) for row in subjects.values_list(*columns)]


def propose_transfer_categories(
    company: Company, subjects: list[ProposalSubject]
) -> dict[UUID, list[CategoryProposal]]:
    """Return a transfer proposal for each whose other party is the company, a holder or one of its accounts."""
    identity = load_company_identity(company)
    own = [
        subject.id
        for subject in subjects
        if is_own_party(subject.from_to, subject.description, subject.account_id, identity)
    ]
    if not own:
        return {}
    transfer_category = Category.objects.for_company(company.id).for_system_key(TRANSFER_SYSTEM_KEY)
    transfer_id = transfer_category.values_list("id", flat=True).get()
    return {row_id: [build_transfer_proposal(transfer_id)] for row_id in own}


def propose_by_name(
    company: Company, subjects: list[ProposalSubject], *, only_certain: bool = False
) -> dict[UUID, list[CategoryProposal]]:
    """Return proposals from transactions with the same name, weighed if the latest twenty disagree.

    ``only_certain`` leaves out names without a certain choice.
    """
    counts = count_categorizations_by_name(company, {subject.name for subject in subjects})
    unweighed_proposals = {name: rank_proposals(COUNTERPARTY, uses.items()) for name, uses in counts.items()}
    if only_certain:
        unweighed_proposals = {name: choices for name, choices in unweighed_proposals.items() if choices[0].is_certain}
    ambiguous_names = [name for name, choices in unweighed_proposals.items() if len(choices) > 1]
    compared_by_name = list_compared_categorizations(company, ambiguous_names) if ambiguous_names else {}
    proposals_by_id = {}
    for subject in subjects:
        if uses := compared_by_name.get(subject.name):
            proposals_by_id[subject.id] = rank_weighed_proposals(subject, counts[subject.name], uses)
        elif subject.name in unweighed_proposals:
            proposals_by_id[subject.id] = unweighed_proposals[subject.name]
    return proposals_by_id


def rank_weighed_proposals(
    subject: ProposalSubject,
    counts: Mapping[PastCategorization, int],
    past_uses: list[tuple[CategoryLine, TransactionTraits]],
) -> list[CategoryProposal]:
    """Return the counted choices, the heaviest first."""
    known_choices = {(categorization.category_id, categorization.pl_type) for categorization in counts}
    weights = weigh_choices(
        subject.traits, [(choice, traits) for choice, traits in past_uses if choice in known_choices]
    )
    return rank_proposals(COUNTERPARTY, counts.items(), weights)


def list_compared_categorizations(
    company: Company, names: list[str]
) -> dict[str, list[tuple[CategoryLine, TransactionTraits]]]:
    """Return the latest forty categorizations of each name: the newest decision first, the others by date.

    Decisions of one second, such as those of an import, are as new as their dates.
    """
    uses_by_name: dict[str, list[tuple[CategoryLine, TransactionTraits]]] = defaultdict(list)
    decided_seconds: dict[str, list[int]] = defaultdict(list)
    words_by_text: dict[str, frozenset[str]] = {}
    for name, category_id, pl_type, account_id, amount, description, categorization_id in fetch_history_rows(
        _COMPARED, company=company, keys=json.dumps(names)
    ):
        if description not in words_by_text:
            words_by_text[description] = extract_text_words(description)
        uses_by_name[name].append(
            ((category_id, pl_type), TransactionTraits(account_id, amount, words_by_text[description]))
        )
        decided_seconds[name].append((categorization_id.int >> UUID7_RANDOM_BITS) // 1000)
    for name, seconds in decided_seconds.items():
        uses = uses_by_name[name]
        uses.insert(0, uses.pop(seconds.index(max(seconds))))
    return uses_by_name


def count_categorizations_by_name(company: Company, names: Iterable[str]) -> dict[str, dict[PastCategorization, int]]:
    """Return by counterparty name how its latest transactions were categorized, and how often."""
    keys = set(names) - {""}
    if not keys:
        return {}
    # One JSON text: writing and reading an array of names took a third of the query's time.
    keys_json = json.dumps(list(keys))
    counts: dict[str, dict[PastCategorization, int]] = defaultdict(dict)
    for name, *columns, count in fetch_history_rows(
        _BY_NAME, company=company, keys=keys_json
    ) + list_uses_under_other_names(company, keys_json):
        categorization = PastCategorization(*columns)
        counts[name][categorization] = counts[name].get(categorization, 0) + count
    return counts


def list_uses_under_other_names(company: Company, names: str) -> list[Any]:
    """Return categorizations of transactions under other names for which a counterparty of these names was chosen."""
    counterparty_rows = fetch_history_rows(_COUNTERPARTIES, company=company, keys=names)
    for statement in (_CHOSEN_ELSEWHERE, _BY_COUNTERPARTY):
        if counterparty_rows:
            ids, keys = zip(*counterparty_rows, strict=True)
            counterparty_rows = fetch_history_rows(
                statement, company=company, ids=format_uuid_array(ids), keys=json.dumps(keys)
            )
    return counterparty_rows


def propose_for_unknown_counterparties(
    company: Company, subjects: list[ProposalSubject]
) -> dict[UUID, list[CategoryProposal]]:
    """Return proposals from transactions with a similar text, else a similar name, else on the same account."""
    proposals_by_id: dict[UUID, list[CategoryProposal]] = {}
    for propose in (propose_by_similar_texts, propose_by_similar_names, propose_by_account):
        if remaining := [subject for subject in subjects if subject.id not in proposals_by_id]:
            proposals_by_id |= dict(propose(company, remaining))
    return {subject.id: proposals_by_id.get(subject.id, []) for subject in subjects}


def propose_by_similar_names(
    company: Company, subjects: list[ProposalSubject]
) -> Iterable[tuple[UUID, list[CategoryProposal]]]:
    """Yield proposals from names that share a rare word, such as “care” or “railways”."""
    words = {word for subject in subjects for word in extract_name_words(subject.name)}
    uses: dict[str, list[tuple[str, PastCategorization, int]]] = defaultdict(list)
    for word, name, *columns, count in (
        fetch_history_rows(_BY_NAME_WORD, company=company, words=list(words)) if words else ()
    ):
        uses[word].append((name, PastCategorization(*columns), count))
    for subject in subjects:
        if shared := {word: uses[word] for word in extract_name_words(subject.name) if word in uses}:
            yield subject.id, propose_by_name_words(shared)


def propose_by_similar_texts(
    company: Company, subjects: list[ProposalSubject]
) -> Iterable[tuple[UUID, list[CategoryProposal]]]:
    """Yield proposals from transactions in the same direction with the most similar texts: an invoice that was sent
    says nothing about one that was paid.
    """
    keys = list({(subject.first_word, subject.is_incoming) for subject in subjects if subject.first_word})
    uses_by_key: dict[tuple[str, bool], list[tuple[frozenset[str], PastCategorization]]] = {}
    words, directions = [key[0] for key in keys], [key[1] for key in keys]
    for word, direction, description, *columns in (
        fetch_history_rows(_BY_WORD, company=company, words=words, inward=directions) if keys else ()
    ):
        uses_by_key.setdefault((word, direction), []).append(
            (extract_text_words(description), PastCategorization(*columns))
        )
    for subject in subjects:
        if similar := uses_by_key.get((subject.first_word, subject.is_incoming)):
            yield subject.id, propose_by_text(subject.description, similar)


def propose_by_account(
    company: Company, subjects: list[ProposalSubject]
) -> Iterable[tuple[UUID, list[CategoryProposal]]]:
    """Yield what most of the latest transactions of the same account and direction were categorized as."""
    keys = list({(subject.account_id, subject.is_incoming) for subject in subjects})
    counts: dict[tuple[UUID, bool], list[tuple[PastCategorization, int]]] = {}
    accounts, directions = [key[0] for key in keys], [key[1] for key in keys]
    for account_id, direction, *columns, count in (
        fetch_history_rows(_ON_ACCOUNT, company=company, accounts=accounts, inward=directions) if keys else ()
    ):
        counts.setdefault((account_id, direction), []).append((PastCategorization(*columns), count))
    for subject in subjects:
        if account_counts := counts.get((subject.account_id, subject.is_incoming)):
            yield subject.id, propose_by_account_use(account_counts, is_incoming=subject.is_incoming)


def format_uuid_array(ids: Iterable[UUID]) -> str:
    """Return ids as one array literal: psycopg is slow with long lists."""
    return f"{{{','.join([each.hex for each in ids])}}}"


def fetch_history_rows(statement: str, *, company: Company, **names: Any) -> list[Any]:
    """Run a statement for the company and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {"company": company.id, **HISTORY_LIMITS, **names})
        return cursor.fetchall()


_ANY_LINE = ", ".join(f"p.{line}" for line in PL_TYPES)
_LINE = "CASE " + " ".join(f"WHEN p.{line} IS NOT NULL THEN '{line}'" for line in PL_TYPES) + " END"

# The categorization of a whole transaction by a person or a rule.
PAST_CATEGORIZATION_SQL = f"p.category_id, {_LINE} AS pl_type, p.counterparty_id, c.type AS counterparty_type"
FULLY_CATEGORIZED_SQL = f"""
    JOIN ledger_categorization p ON p.company_id = h.company_id AND p.transaction_id = h.id
     AND p.value = h.amount_value AND p.counter_id IS NULL AND coalesce({_ANY_LINE}) IS NOT NULL
     AND (p.source_note IS NULL OR p.source_note NOT IN ('{HISTORY_NOTE}', '{ACCOUNT_NOTE}'))
    LEFT JOIN ledger_counterparty c ON c.company_id = p.company_id AND c.id = p.counterparty_id
   WHERE h.company_id = %(company)s AND h.categorized_value <> 0 AND h.categorized_value = h.amount_value
     AND h.source <> 'initialBalance'
"""
_KEYS = "ARRAY(SELECT json_array_elements_text(%(keys)s::json))"
_COUNTED = "u.category_id, u.pl_type, u.counterparty_id, u.counterparty_type"

# Raw SQL: names, words and accounts are sent as arrays, and each is looked up in a LATERAL subquery.
# The latest transactions of a name with what they are compared by. Each needs a lookup of its categorization, some
# microseconds: so this is run only for names whose stored counts disagree.
_COMPARED = f"""
    SELECT asked.name, u.category_id, u.pl_type, u.account_id, u.amount_value, u.description, u.categorization_id
      FROM unnest({_KEYS}) AS asked (name)
     CROSS JOIN LATERAL (
           SELECT {PAST_CATEGORIZATION_SQL}, h.account_id, h.amount_value, left(h.description, 200) AS description,
                  p.id AS categorization_id
             FROM ledger_transaction h {FULLY_CATEGORIZED_SQL} AND lower(left(h.from_to, 100)) = asked.name
            ORDER BY h.date DESC, h.id DESC LIMIT %(compared)s) AS u
"""  # noqa: S608 - our own words
# By the name in the transaction, from the counts that the database maintains.
_BY_NAME = f"""
    SELECT h.name, h.category_id, h.pl_type, h.counterparty_id, c.type, h.count
      FROM ledger_habit h
      LEFT JOIN ledger_counterparty c ON c.company_id = h.company_id AND c.id = h.counterparty_id
     WHERE h.company_id = %(company)s AND h.name = ANY({_KEYS})
     ORDER BY h.name, h.place
"""  # noqa: S608 - our own words
# ORM: 3.2 x.
_COUNTERPARTIES = f"""
    SELECT id, lower(left(name, 100)) FROM ledger_counterparty
     WHERE company_id = %(company)s AND lower(left(name, 100)) = ANY({_KEYS})
"""  # noqa: S608 - our own words
# Counterparties that were chosen for transactions with other names, or none. The stored counts of those names
# tell whether there are any: searching all transactions of each counterparty took two thirds of the time.
_ASKED = f"unnest(%(ids)s::uuid[], {_KEYS}) AS asked (id, name)"
_CHOSEN_ELSEWHERE = f"""
    WITH asked AS (SELECT * FROM {_ASKED})
    SELECT id, name FROM asked
     WHERE id IN (SELECT asked.id FROM asked JOIN ledger_habit k ON k.counterparty_id = asked.id
                   WHERE k.company_id = %(company)s AND k.name <> asked.name)
        OR EXISTS (SELECT FROM ledger_transaction WHERE company_id = %(company)s AND lower(left(from_to, 100)) = ''
                      AND NOT categorized_value = 0 AND source <> 'initialBalance')
"""  # noqa: S608 - our own words
# A name has a row for each of its categorizations; a word in many rows ("services") proves nothing.
_BY_NAME_WORD = """
    SELECT s.word, s.name, s.category_id, s.pl_type, s.counterparty_id, c.type, s.count
      FROM (SELECT h.*, w.word, count(*) OVER (PARTITION BY w.word) AS rows_of_word
              FROM ledger_habit h CROSS JOIN LATERAL unnest(string_to_array(h.name, ' ')) AS w (word)
             WHERE h.company_id = %(company)s AND w.word = ANY(%(words)s)) AS s
      LEFT JOIN ledger_counterparty c ON c.company_id = %(company)s AND c.id = s.counterparty_id
     WHERE s.rows_of_word <= %(rows_of_word)s
     ORDER BY s.word, s.name, s.place
"""
_BY_COUNTERPARTY = f"""
    SELECT asked.name, {_COUNTED}, count(*)
      FROM {_ASKED}
     CROSS JOIN LATERAL (
           SELECT {PAST_CATEGORIZATION_SQL}
             FROM (SELECT transaction_id FROM ledger_categorization
                    WHERE company_id = %(company)s AND counterparty_id = asked.id LIMIT %(looked_at)s) AS own
             JOIN ledger_transaction h ON h.company_id = %(company)s AND h.id = own.transaction_id
                  {FULLY_CATEGORIZED_SQL}
              AND lower(left(h.from_to, 100)) <> asked.name AND p.counterparty_id = asked.id
            ORDER BY h.date DESC, h.id DESC LIMIT %(latest)s) AS u
     GROUP BY asked.name, {_COUNTED}
"""  # noqa: S608 - our own words
_BY_WORD = f"""
    SELECT asked.word, asked.inward, u.description, {_COUNTED}
      FROM unnest(%(words)s::text[], %(inward)s::bool[]) AS asked (word, inward)
     CROSS JOIN LATERAL (
           SELECT h.description, {PAST_CATEGORIZATION_SQL}
             FROM ledger_transaction h {FULLY_CATEGORIZED_SQL} AND (h.amount_value > 0) = asked.inward
              AND lower(split_part(left(h.description, 100), ' ', 1)) = asked.word
            ORDER BY h.date DESC LIMIT %(alike)s) AS u
"""  # noqa: S608 - our own words
_ON_ACCOUNT = f"""
    SELECT asked.account_id, asked.inward, {_COUNTED}, count(*)
      FROM unnest(%(accounts)s::uuid[], %(inward)s::bool[]) AS asked (account_id, inward)
     CROSS JOIN LATERAL (
           SELECT {PAST_CATEGORIZATION_SQL}
             FROM (SELECT * FROM ledger_transaction WHERE company_id = %(company)s AND account_id = asked.account_id
                    ORDER BY date DESC LIMIT %(looked_at)s) AS h
                  {FULLY_CATEGORIZED_SQL} AND (h.amount_value > 0) = asked.inward
            LIMIT %(on_account)s) AS u
     GROUP BY asked.account_id, asked.inward, {_COUNTED}
"""  # noqa: S608 - our own words

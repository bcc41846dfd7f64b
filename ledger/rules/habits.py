"""What the company did with movements like these before, from its own history and nothing else.

What history and accounts assigned by themselves is never counted, lest a guess become its own proof. Of a name, a word
and an account the latest uses count, so that a habit that has changed is soon another one, and time does not grow with
the history.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Q

from companies.models import Company
from ledger.models import Category
from ledger.recognition.posting import LINES
from ledger.rules.calc.parties import is_own_party
from ledger.rules.calc.proposing import (
    ACCOUNT,
    COUNTERPARTY,
    LATEST,
    Choice,
    Proposal,
    Traits,
    Use,
    by_name_words,
    by_text,
    name_words,
    proposals,
    propose_transfer,
    weigh,
    words_of,
)
from ledger.rules.identity import load_identity

OF_HISTORY, OF_ACCOUNT = "history", "account"  # the sourceNote of what they say
NOT_BY_ITSELF = Q(source_note__isnull=True) | ~Q(source_note__in=(OF_HISTORY, OF_ACCOUNT))


class Subject(NamedTuple):
    """A transaction that a category is looked for."""

    id: UUID
    name: str  # of its other side, as the index has it
    from_to: str
    description: str
    account_id: UUID
    amount: Decimal
    first_word: str  # of its description, as the index has it

    @property
    def inward(self) -> bool:
        return self.amount > 0

    @property
    def traits(self) -> Traits:
        return Traits(self.account_id, self.amount, words_of(self.description))


def proposed(company: Company, transaction_ids: list[UUID]) -> dict[UUID, list[Proposal]]:
    """Return suggestions by transaction, the best first; without unknown ids. Twelve statements for all at most.

    A movement whose other party is the company itself is a transfer and nothing else. Of the others, movements of the
    same counterparty tell most; where there are none, those whose text begins alike, then those whose names share a
    word, then those on the same account.
    """
    subjects = list_subjects(company, transaction_ids)
    transfers = propose_transfers(company, subjects)
    others = [subject for subject in subjects if subject.id not in transfers]
    by_name = propose_by_name(company, others)
    strangers = [subject for subject in others if subject.id not in by_name]
    return transfers | by_name | (propose_for_strangers(company, strangers) if strangers else {})


def certain(company: Company, transaction_ids: list[UUID]) -> dict[UUID, Use]:
    """Return by transaction what it is for beyond doubt; never for a movement between own accounts."""
    subjects = list_subjects(company, transaction_ids)
    own = propose_transfers(company, subjects)
    by_name = propose_by_name(company, [subject for subject in subjects if subject.id not in own], only_certain=True)
    return {row_id: best.use for row_id, (best, *_) in by_name.items() if best.certain}


def list_subjects(company: Company, transaction_ids: list[UUID]) -> list[Subject]:
    return [Subject(*row) for row in fetched(_SUBJECTS, company=company, ids=as_text(transaction_ids))]


def propose_transfers(company: Company, subjects: list[Subject]) -> dict[UUID, list[Proposal]]:
    """Return the suggestion for each whose other party is the company, an account holder or one of its accounts."""
    identity = load_identity(company)
    own = [
        subject.id
        for subject in subjects
        if is_own_party(subject.from_to, subject.description, subject.account_id, identity)
    ]
    if not own:
        return {}
    transfer_id = Category.objects.of(company.id).system("transfer").values_list("id", flat=True).get()
    return {row_id: [propose_transfer(transfer_id)] for row_id in own}


def propose_by_name(
    company: Company, subjects: list[Subject], *, only_certain: bool = False
) -> dict[UUID, list[Proposal]]:
    """Return suggestions from movements of the same name; the uses are weighed where the latest twenty disagree.

    ``only_certain`` leaves out names of which no choice can be certain.
    """
    counts = count_by_name(company, {subject.name for subject in subjects})
    plain = {name: proposals(COUNTERPARTY, uses.items()) for name, uses in counts.items()}
    if only_certain:
        plain = {name: choices for name, choices in plain.items() if choices[0].certain}
    mixed = [name for name, choices in plain.items() if len(choices) > 1]
    compared = list_compared_uses(company, mixed) if mixed else {}
    found = {}
    for subject in subjects:
        if uses := compared.get(subject.name):
            found[subject.id] = weighed(subject, counts[subject.name], uses)
        elif subject.name in plain:
            found[subject.id] = plain[subject.name]
    return found


def weighed(subject: Subject, counts: Mapping[Use, int], uses: list[tuple[Choice, Traits]]) -> list[Proposal]:
    """Return the choices among the counted ones, the heaviest first."""
    known = {(use.category_id, use.pl_type) for use in counts}
    weights = weigh(subject.traits, [(choice, traits) for choice, traits in uses if choice in known])
    return proposals(COUNTERPARTY, counts.items(), weights)


def list_compared_uses(company: Company, names: list[str]) -> dict[str, list[tuple[Choice, Traits]]]:
    """Return the latest forty uses of each name, the latest first."""
    found: dict[str, list[tuple[Choice, Traits]]] = defaultdict(list)
    words: dict[str, frozenset[str]] = {}
    for name, category_id, pl_type, account_id, amount, description in fetched(
        _COMPARED, company=company, keys=json.dumps(names)
    ):
        if description not in words:
            words[description] = words_of(description)
        found[name].append(((category_id, pl_type), Traits(account_id, amount, words[description])))
    return found


def count_by_name(company: Company, names: Iterable[str]) -> dict[str, dict[Use, int]]:
    """Return by counterparty name what its latest movements were for, and how often."""
    keys = set(names) - {""}
    if not keys:
        return {}
    # One text: to write and read an array of names took a third of the time of what they ask.
    asked = json.dumps(list(keys))
    counts: dict[str, dict[Use, int]] = defaultdict(dict)
    for name, *use, count in fetched(_BY_NAME, company=company, keys=asked) + of_other_names(company, asked):
        known = Use(*use)
        counts[name][known] = counts[name].get(known, 0) + count
    return counts


def of_other_names(company: Company, names: str) -> list[Any]:
    """What the movements were for that name somebody else, or nobody, and for which a counterparty of these names was
    chosen."""
    found = fetched(_COUNTERPARTIES, company=company, keys=names)
    for narrower in (_CHOSEN_ELSEWHERE, _BY_COUNTERPARTY):
        if found:
            ids, keys = zip(*found, strict=True)
            found = fetched(narrower, company=company, ids=as_text(ids), keys=json.dumps(keys))
    return found


def propose_for_strangers(company: Company, rows: list[Subject]) -> dict[UUID, list[Proposal]]:
    """Return suggestions from movements with a text like theirs, else a name like theirs, else on the same account."""
    found: dict[UUID, list[Proposal]] = {}
    for propose in (of_texts, of_similar_names, of_accounts):
        if left := [row for row in rows if row.id not in found]:
            found |= dict(propose(company, left))
    return {row.id: found.get(row.id, []) for row in rows}


def of_similar_names(company: Company, rows: list[Subject]) -> Iterable[tuple[UUID, list[Proposal]]]:
    """Return what movements were for whose names share a rare word with theirs, such as "care" or "railways"."""
    words = {word for row in rows for word in name_words(row.name)}
    uses: dict[str, list[tuple[str, Use, int]]] = defaultdict(list)
    for word, name, *use, count in fetched(_BY_NAME_WORD, company=company, words=list(words)) if words else ():
        uses[word].append((name, Use(*use), count))
    for row in rows:
        if shared := {word: uses[word] for word in name_words(row.name) if word in uses}:
            yield row.id, by_name_words(shared)


def of_texts(company: Company, rows: list[Subject]) -> Iterable[tuple[UUID, list[Proposal]]]:
    """What the movements in the same direction were for whose texts are most like those of the rows: an invoice that
    was sent says nothing of one that was paid."""
    keys = list({(row.first_word, row.inward) for row in rows if row.first_word})
    others: dict[tuple[str, bool], list[tuple[frozenset[str], Use]]] = {}
    words, inward = [key[0] for key in keys], [key[1] for key in keys]
    for word, direction, description, *use in (
        fetched(_BY_WORD, company=company, words=words, inward=inward) if keys else ()
    ):
        others.setdefault((word, direction), []).append((words_of(description), Use(*use)))
    for row in rows:
        if like := others.get((row.first_word, row.inward)):
            yield row.id, by_text(row.description, like)


def of_accounts(company: Company, rows: list[Subject]) -> Iterable[tuple[UUID, list[Proposal]]]:
    """What most of the latest movements of the same account and direction were for."""
    keys = list({(row.account_id, row.inward) for row in rows})
    counts: dict[tuple[UUID, bool], list[tuple[Use, int]]] = {}
    accounts, inward = [key[0] for key in keys], [key[1] for key in keys]
    for account_id, direction, *use, count in (
        fetched(_ON_ACCOUNT, company=company, accounts=accounts, inward=inward) if keys else ()
    ):
        counts.setdefault((account_id, direction), []).append((Use(*use), count))
    for row in rows:
        if of_account := counts.get((row.account_id, row.inward)):
            yield row.id, proposals(ACCOUNT, of_account)


def as_text(ids: Iterable[UUID]) -> str:
    """An array as one text: psycopg takes its time over each of a list."""
    return f"{{{','.join([each.hex for each in ids])}}}"


def fetched(statement: str, *, company: Company, **names: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"company": company.id, **LATEST, **names})
        return cursor.fetchall()


_ANY_LINE = ", ".join(f"p.{line}" for line in LINES)
_LINE = "CASE " + " ".join(f"WHEN p.{line} IS NOT NULL THEN '{line}'" for line in LINES) + " END"

# What a whole movement was for, where a person or a rule said so.
USE = f"p.category_id, {_LINE} AS pl_type, p.counterparty_id, c.type AS counterparty_type"
WHOLE = f"""
    JOIN ledger_categorization p ON p.company_id = h.company_id AND p.transaction_id = h.id
     AND p.value = h.amount_value AND p.counter_id IS NULL AND coalesce({_ANY_LINE}) IS NOT NULL
     AND (p.source_note IS NULL OR p.source_note NOT IN ('{OF_HISTORY}', '{OF_ACCOUNT}'))
    LEFT JOIN ledger_counterparty c ON c.company_id = p.company_id AND c.id = p.counterparty_id
   WHERE h.company_id = %(company)s AND h.categorized_value <> 0 AND h.categorized_value = h.amount_value
     AND h.source <> 'initialBalance'
"""
_KEYS = "ARRAY(SELECT json_array_elements_text(%(keys)s::json))"
_COUNTED = "u.category_id, u.pl_type, u.counterparty_id, u.counterparty_type"

_SUBJECTS = """
    SELECT id, lower(left(from_to, 100)), from_to, description, account_id, amount_value,
           lower(split_part(left(description, 100), ' ', 1))
      FROM ledger_transaction WHERE company_id = %(company)s AND id = ANY(%(ids)s::uuid[])
"""
# The latest of a name with what they are compared by. A part is looked up for each movement, which takes the database
# some microseconds: so only names whose kept counts disagree are asked about.
_COMPARED = f"""
    SELECT asked.name, u.category_id, u.pl_type, u.account_id, u.amount_value, u.description
      FROM unnest({_KEYS}) AS asked (name)
     CROSS JOIN LATERAL (
           SELECT {USE}, h.account_id, h.amount_value, left(h.description, 200) AS description
             FROM ledger_transaction h {WHOLE} AND lower(left(h.from_to, 100)) = asked.name
            ORDER BY h.date DESC, h.id DESC LIMIT %(compared)s) AS u
"""  # noqa: S608 - our own words
# Of somebody who is known by the name in the movement: the database keeps it counted (ledger.models.Habit).
_BY_NAME = f"""
    SELECT h.name, h.category_id, h.pl_type, h.counterparty_id, c.type, h.count
      FROM ledger_habit h
      LEFT JOIN ledger_counterparty c ON c.company_id = h.company_id AND c.id = h.counterparty_id
     WHERE h.company_id = %(company)s AND h.name = ANY({_KEYS})
     ORDER BY h.name, h.place
"""  # noqa: S608 - our own words
_COUNTERPARTIES = f"""
    SELECT id, lower(left(name, 100)) FROM ledger_counterparty
     WHERE company_id = %(company)s AND lower(left(name, 100)) = ANY({_KEYS})
"""  # noqa: S608 - our own words
# Those who were chosen for movements of other names, or of none. What is kept of those names tells whether there are
# any: to look through all movements of each counterparty took two thirds of the time.
_ASKED = f"unnest(%(ids)s::uuid[], {_KEYS}) AS asked (id, name)"
_CHOSEN_ELSEWHERE = f"""
    WITH asked AS (SELECT * FROM {_ASKED})
    SELECT id, name FROM asked
     WHERE id IN (SELECT asked.id FROM asked JOIN ledger_habit k ON k.counterparty_id = asked.id
                   WHERE k.company_id = %(company)s AND k.name <> asked.name)
        OR EXISTS (SELECT FROM ledger_transaction WHERE company_id = %(company)s AND lower(left(from_to, 100)) = ''
                      AND NOT categorized_value = 0 AND source <> 'initialBalance')
"""  # noqa: S608 - our own words
# A name has a row for each of its uses; a word of many rows ("services") tells nothing.
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
           SELECT {USE}
             FROM (SELECT transaction_id FROM ledger_categorization
                    WHERE company_id = %(company)s AND counterparty_id = asked.id LIMIT %(looked_at)s) AS own
             JOIN ledger_transaction h ON h.company_id = %(company)s AND h.id = own.transaction_id {WHOLE}
              AND lower(left(h.from_to, 100)) <> asked.name AND p.counterparty_id = asked.id
            ORDER BY h.date DESC, h.id DESC LIMIT %(latest)s) AS u
     GROUP BY asked.name, {_COUNTED}
"""  # noqa: S608 - our own words
_BY_WORD = f"""
    SELECT asked.word, asked.inward, u.description, {_COUNTED}
      FROM unnest(%(words)s::text[], %(inward)s::bool[]) AS asked (word, inward)
     CROSS JOIN LATERAL (
           SELECT h.description, {USE} FROM ledger_transaction h {WHOLE} AND (h.amount_value > 0) = asked.inward
              AND lower(split_part(left(h.description, 100), ' ', 1)) = asked.word
            ORDER BY h.date DESC LIMIT %(alike)s) AS u
"""  # noqa: S608 - our own words
_ON_ACCOUNT = f"""
    SELECT asked.account_id, asked.inward, {_COUNTED}, count(*)
      FROM unnest(%(accounts)s::uuid[], %(inward)s::bool[]) AS asked (account_id, inward)
     CROSS JOIN LATERAL (
           SELECT {USE}
             FROM (SELECT * FROM ledger_transaction WHERE company_id = %(company)s AND account_id = asked.account_id
                    ORDER BY date DESC LIMIT %(looked_at)s) AS h {WHOLE} AND (h.amount_value > 0) = asked.inward
            LIMIT %(on_account)s) AS u
     GROUP BY asked.account_id, asked.inward, {_COUNTED}
"""  # noqa: S608 - our own words

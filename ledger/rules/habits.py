"""What the company did with movements like these before, from its own history and nothing else.

What history and accounts assigned by themselves is never counted, lest a guess become its own proof. Of a name, a word
and an account the latest uses count, so that a habit that has changed is soon another one, and time does not grow with
the history.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Q

from companies.models import Company
from ledger.recognition.posting import LINES
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

OF_HISTORY, OF_ACCOUNT = "history", "account"  # the sourceNote of what they say
NOT_BY_ITSELF = Q(source_note__isnull=True) | ~Q(source_note__in=(OF_HISTORY, OF_ACCOUNT))


class Stranger(NamedTuple):
    """A movement of whose name nothing is known, by what others are like it."""

    id: UUID
    word: str  # the description's first
    description: str
    account_id: UUID
    inward: bool


def proposed(company: Company, transaction_ids: list[UUID]) -> dict[UUID, list[Proposal]]:
    """By transaction what it could be for, the best first; without unknown ids. Eight statements for all of them at
    most.

    Movements of the same counterparty tell most; where there are none, those whose text begins alike, then those on the
    same account.
    """
    names = other_sides(company, transaction_ids)
    known = of_names(company, names.values())
    found = {row_id: known.get(name, []) for row_id, name in names.items()}
    if strangers := [row_id for row_id, proposals in found.items() if not proposals]:
        found |= of_strangers(company, strangers)
    return found


def certain(company: Company, transaction_ids: list[UUID]) -> dict[UUID, Use]:
    """By transaction what it is for beyond doubt; five statements at most."""
    names = other_sides(company, transaction_ids)
    sure = {name: best.use for name, (best, *_) in of_names(company, names.values()).items() if best.certain}
    return {row_id: sure[name] for row_id, name in names.items() if name in sure}


def other_sides(company: Company, transaction_ids: list[UUID]) -> dict[UUID, str]:
    """By transaction the name of its other side, as the index has it."""
    return dict(fetched(_NAMES, company=company, ids=as_text(transaction_ids)))


def of_names(company: Company, given: Iterable[str]) -> dict[str, list[Proposal]]:
    """What movements of a counterparty were for, by its name without case."""
    keys = set(given) - {""}
    if not keys:
        return {}
    # One text: to write and read an array of names took a third of the time of what they ask.
    names = json.dumps(list(keys))
    counts: dict[str, dict[Use, int]] = defaultdict(dict)
    for name, *use, count in fetched(_BY_NAME, company=company, keys=names) + of_other_names(company, names):
        known = Use(*use)
        counts[name][known] = counts[name].get(known, 0) + count
    return {name: proposals(COUNTERPARTY, of_name.items()) for name, of_name in counts.items()}


def of_other_names(company: Company, names: str) -> list[Any]:
    """What the movements were for that name somebody else, or nobody, and for which a counterparty of these names was
    chosen."""
    found = fetched(_COUNTERPARTIES, company=company, keys=names)
    for narrower in (_CHOSEN_ELSEWHERE, _BY_COUNTERPARTY):
        if found:
            ids, keys = zip(*found, strict=True)
            found = fetched(narrower, company=company, ids=as_text(ids), keys=json.dumps(keys))
    return found


def of_strangers(company: Company, transaction_ids: list[UUID]) -> dict[UUID, list[Proposal]]:
    """What movements were for that have a text like theirs, or else the same account."""
    rows = [Stranger(*row) for row in fetched(_STRANGERS, company=company, ids=as_text(transaction_ids))]
    of_text = dict(of_texts(company, rows))
    return of_text | dict(of_accounts(company, [row for row in rows if row.id not in of_text]))


def of_texts(company: Company, rows: list[Stranger]) -> Iterable[tuple[UUID, list[Proposal]]]:
    """What the movements in the same direction were for whose texts are most like those of the rows: an invoice that
    was sent says nothing of one that was paid."""
    keys = list({(row.word, row.inward) for row in rows if row.word})
    others: dict[tuple[str, bool], list[tuple[frozenset[str], Use]]] = {}
    words, inward = [key[0] for key in keys], [key[1] for key in keys]
    for word, direction, description, *use in (
        fetched(_BY_WORD, company=company, words=words, inward=inward) if keys else ()
    ):
        others.setdefault((word, direction), []).append((words_of(description), Use(*use)))
    for row in rows:
        if like := others.get((row.word, row.inward)):
            yield row.id, by_text(row.description, like)


def of_accounts(company: Company, rows: list[Stranger]) -> Iterable[tuple[UUID, list[Proposal]]]:
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

_NAMES = """
    SELECT id, lower(left(from_to, 100)) FROM ledger_transaction
     WHERE company_id = %(company)s AND id = ANY(%(ids)s::uuid[])
"""
_STRANGERS = """
    SELECT id, lower(split_part(left(description, 100), ' ', 1)), description, account_id, amount_value > 0
      FROM ledger_transaction WHERE company_id = %(company)s AND id = ANY(%(ids)s::uuid[])
"""
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

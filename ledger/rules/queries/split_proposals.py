"""How to split a payment into several categories: as its text states, as the last of its name and kind, or as named."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.utils.functional import SimpleLazyObject

from companies.models import Company, IdIn
from ledger.calc.recognition import DateRule
from ledger.models import Categorization, Transaction
from ledger.models.transactions import MAX_INDEXED_NAME_LENGTH
from ledger.recognition.actions.postings import PL_TYPES
from ledger.rules.calc.kind_categories import CategoryOption, find_kind_category
from ledger.rules.calc.payment_kind_matcher import find_payment_kind
from ledger.rules.calc.payment_kinds import PaymentKind
from ledger.rules.calc.split_parts import SplitPart, scale_split_parts
from ledger.rules.calc.stated_parts import StatedPart, find_named_parts, find_stated_parts
from ledger.rules.queries.category_suggestions import list_category_options
from ledger.rules.queries.history_statements import fetch_history_rows

MAX_PARTS = 20  # of a split that is repeated: the address of the form has them all
KindKey = tuple[str, PaymentKind | None, bool]  # name, kind of payment, whether money comes in

# The latest transactions of the names of which one was split, latest first. Raw SQL: each name is looked up in a
# LATERAL subquery.
_KEYS = "ARRAY(SELECT json_array_elements_text(%(keys)s::json))"
SPLIT_NAMES_SQL = f"""
    SELECT name, description, amount_value, id, is_split FROM (
           SELECT asked.name, u.*, bool_or(u.is_split) OVER (PARTITION BY asked.name) AS has_split
             FROM unnest({_KEYS}) AS asked (name)
            CROSS JOIN LATERAL (
                  SELECT h.id, h.date, h.description, h.amount_value,
                         (SELECT sum(num_nonnulls({", ".join(f"p.{line}" for line in PL_TYPES)})) > 1
                            FROM ledger_categorization p
                           WHERE p.company_id = %(company)s AND p.transaction_id = h.id
                             AND p.counter_id IS NULL) AS is_split
                    FROM ledger_transaction h
                   WHERE h.company_id = %(company)s AND h.categorized_value <> 0
                     AND h.categorized_value = h.amount_value AND h.source <> 'initialBalance'
                     AND lower(left(h.from_to, 100)) = asked.name
                   ORDER BY h.date DESC, h.id DESC LIMIT %(latest)s) AS u) AS latest
     WHERE has_split
     ORDER BY name, date DESC, id DESC
"""  # noqa: S608 - our own words


class PastSplit(NamedTuple):
    """How an earlier payment was split."""

    day: date
    parts: list[SplitPart]
    stated_parts: list[StatedPart]  # of its text


class SplitProposal(NamedTuple):
    """A proposed split, which adds up to the payment if its amounts are known.

    ``stated_parts`` are those of its text. Without them, the split is that of the payment of ``past_day``. Without
    either, the text names the parts, and their amounts are zero, for a person to enter.
    """

    parts: list[SplitPart]
    stated_parts: list[StatedPart]
    past_day: date | None


def propose_splits(company: Company, rows: Sequence[Transaction]) -> dict[UUID, SplitProposal]:
    """Return the proposed split by id of uncategorized transactions. One statement, and three more if there are any."""
    past_splits = find_past_splits(company, rows)
    options = SimpleLazyObject(lambda: list_category_options(company))
    proposals = ((row.id, propose_split(row, past_splits.get(row.id), options)) for row in rows)
    return {row_id: proposal for row_id, proposal in proposals if proposal}


def propose_split(row: Transaction, past: PastSplit | None, options: Iterable[CategoryOption]) -> SplitProposal | None:
    """Return how to split a payment: as its text states, else as the earlier one, else into the parts that it names.

    A stated part has the category, tax rate and counterparty of the part of its kind in the earlier payment.
    """
    currency = row.amount_currency
    if stated_parts := find_stated_parts(row.description or row.from_to, row.amount_value):
        known_parts = map_parts_by_kind(past) if past else {}
        parts = []
        for kind, amount in stated_parts:
            part = known_parts.get(kind) or build_part_of_kind(kind, amount, options)
            parts += scale_split_parts([part], to=amount, currency=currency)
        return SplitProposal(parts, stated_parts, None)
    if past:
        parts = scale_split_parts(past.parts, to=row.amount_value, currency=currency)
        return SplitProposal(parts, [], past.day) if all(part.value for part in parts) else None
    named_kinds = find_named_parts(row.description or row.from_to)
    parts = [build_part_of_kind(kind, Decimal(0), options) for kind in named_kinds]
    return SplitProposal(parts, [], None) if parts else None


def build_part_of_kind(kind: PaymentKind, amount: Decimal, options: Iterable[CategoryOption]) -> SplitPart:
    """Return a part with the category that fits its kind, if any does."""
    category_id, line = find_kind_category(kind, options) or (None, "")
    return SplitPart(category_id, {line: amount})


def map_parts_by_kind(past: PastSplit) -> dict[PaymentKind, SplitPart]:
    """Return the parts that a payment was split into by the kind that its text states for their amount."""
    parts_by_kind = {}
    for kind, amount in past.stated_parts:
        parts = [part for part in past.parts if part.value == amount]
        if len(parts) == 1:
            parts_by_kind[kind] = parts[0]
    return parts_by_kind


def find_past_splits(company: Company, rows: Sequence[Transaction]) -> dict[UUID, PastSplit]:
    """Return by id of each transaction how the latest of its name and kind was split; without those that were not."""
    names = {normalize_name(row.from_to) for row in rows} - {""}
    if not names:
        return {}
    past_rows = fetch_history_rows(SPLIT_NAMES_SQL, company=company, keys=json.dumps(sorted(names)))
    split_names = {name for name, *_ in past_rows}
    keys = {
        row.id: build_kind_key(row.from_to, row.description, row.amount_value)
        for row in rows
        if normalize_name(row.from_to) in split_names
    }
    latest_ids = find_latest_splits(past_rows, set(keys.values()))
    splits = load_splits(company, latest_ids.values()) if latest_ids else {}
    return {row_id: splits[latest_ids[key]] for row_id, key in keys.items() if latest_ids.get(key) in splits}


def find_latest_splits(past_rows: Iterable[Any], keys: Iterable[KindKey]) -> dict[KindKey, UUID]:
    """Return the id of the latest transaction of each name and kind, of those that were split."""
    keys_by_name: defaultdict[str, set[KindKey]] = defaultdict(set)
    for key in keys:
        keys_by_name[key[0]].add(key)
    latest_ids = {}
    for name, rows_of_name in groupby(past_rows, key=itemgetter(0)):
        unseen_keys = keys_by_name[name]
        for _, description, amount, past_id, is_split in rows_of_name:
            if not unseen_keys:  # the kind of a payment takes a while
                break
            key = build_kind_key(name, description, amount)
            if key in unseen_keys:
                unseen_keys.remove(key)
                if is_split:
                    latest_ids[key] = past_id
    return latest_ids


def normalize_name(from_to: str) -> str:
    """Return a name as the index has it."""
    return from_to[:MAX_INDEXED_NAME_LENGTH].lower()


def build_kind_key(from_to: str, description: str, amount: Decimal) -> KindKey:
    """Return the name of a transaction with its kind of payment and direction."""
    name = normalize_name(from_to)
    return name, find_payment_kind(from_to=name, description=description, is_incoming=amount > 0), amount > 0


def load_splits(company: Company, ids: Iterable[UUID]) -> dict[UUID, PastSplit]:
    """Return the splits of transactions, without legs of transfers; two statements."""
    parts_by_id: defaultdict[UUID, list[SplitPart]] = defaultdict(list)
    for categorization in (
        Categorization.objects.for_company(company.id)
        .filter(IdIn("transaction_id", list(ids)))
        .unlinked()
        .order_by("position", "id")
    ):
        part = SplitPart(
            categorization.category_id,
            categorization.split,
            categorization.pass_through_tax,
            None if categorization.counterparty_by_settlement else categorization.counterparty_id,
            has_service_period=categorization.rule in (DateRule.SERVICE_PERIOD, DateRule.CUSTOM),
        )
        parts_by_id[categorization.transaction_id].append(part)
    return {
        row.id: PastSplit(row.date, parts, find_stated_parts(row.description or row.from_to, row.amount_value))
        for row in Transaction.objects.for_company(company.id).filter(IdIn("id", list(parts_by_id)))
        if len(parts := parts_by_id[row.id]) <= MAX_PARTS and sum(part.value for part in parts) == row.amount_value
    }

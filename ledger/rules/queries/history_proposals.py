"""Category proposals from the company's own history.

What history and account defaults assigned automatically is never counted, so that a guess does not confirm
itself. For a name, a word and an account only the latest transactions count: changed habits show soon, and
time does not grow with the history.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Left, Lower

from companies.closed_periods import is_day_closed
from companies.models import Company, IdIn
from ledger.models import TRANSFER_SYSTEM_KEY, Category, Transaction
from ledger.models.transactions import MAX_INDEXED_NAME_LENGTH, FirstWord
from ledger.rules.calc.category_proposals import (
    COUNTERPARTY,
    TEXT,
    CategoryLine,
    CategoryProposal,
    PastCategorization,
    TransactionTraits,
    build_transfer_proposal,
    extract_first_word,
    extract_name_words,
    extract_text_words,
    propose_by_account_use,
    propose_by_name_words,
    propose_by_text,
    rank_proposals,
    weigh_choices,
)
from ledger.rules.calc.parties import find_third_party, is_own_party
from ledger.rules.calc.payment_kinds import MAX_TEXT_LENGTH
from ledger.rules.queries.company_identity import load_company_identity
from ledger.rules.queries.history_statements import (
    ACCOUNT_NOTE,
    BY_COUNTERPARTY_SQL,
    BY_NAME_SQL,
    BY_NAME_WORD_SQL,
    BY_WORD_SQL,
    CHOSEN_ELSEWHERE_SQL,
    COMPARED_SQL,
    COUNTERPARTIES_SQL,
    DIRECTIONS_SQL,
    HISTORY_NOTE,
    ON_ACCOUNT_SQL,
    fetch_history_rows,
    format_uuid_array,
)
from ledger.rules.queries.transfer_proposals import find_own_transfer_ids

UUID7_RANDOM_BITS = 80  # behind the milliseconds of a time-ordered id
DirectedChoice = tuple[str, CategoryLine, bool]  # a choice that was made for a name, and whether money came in
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
    """Return proposals by transaction id, the best first, without unknown ids. At most nineteen statements for all.

    A transaction whose other party is the company itself, or that is a leg of a proposed transfer between own accounts,
    is proposed as a transfer only. Of the others, transactions of the same counterparty come first; without any, those
    whose text begins alike, then those whose names share a word, then those on the same account. Transactions of closed
    months have no proposals.
    """
    subjects = list_proposal_subjects(company, transaction_ids)
    closed: dict[UUID, list[CategoryProposal]] = {
        subject.id: [] for subject in subjects if is_day_closed(company, subject.date)
    }
    open_subjects = [subject for subject in subjects if subject.id not in closed]
    transfers = propose_transfer_categories(company, open_subjects, with_pairs=True)
    undecided_subjects = [subject for subject in open_subjects if subject.id not in transfers]
    name_proposals = propose_by_name(company, undecided_subjects)
    unknown_subjects = [subject for subject in undecided_subjects if subject.id not in name_proposals]
    return (
        closed
        | transfers
        | name_proposals
        | (propose_for_unknown_counterparties(company, unknown_subjects) if unknown_subjects else {})
    )


def find_certain_categories(company: Company, transaction_ids: list[UUID]) -> dict[UUID, PastCategorization]:
    """Return the certain categorization by transaction id; never for a transfer between own accounts."""
    subjects = list_proposal_subjects(company, transaction_ids)
    transfer_proposals = propose_transfer_categories(company, subjects)
    name_proposals = propose_by_name(
        company, [subject for subject in subjects if subject.id not in transfer_proposals], only_certain=True
    )
    return {row_id: best.categorization for row_id, (best, *_) in name_proposals.items() if best.is_certain}


def list_proposal_subjects(company: Company, transaction_ids: list[UUID]) -> list[ProposalSubject]:
    """Return the transactions with what proposals need; one statement."""
    subjects = Transaction.objects.for_company(company.id).filter(IdIn("id", transaction_ids)).order_by()
    name, first_word = Lower(Left("from_to", MAX_INDEXED_NAME_LENGTH)), Lower(FirstWord("description"))
    description = Left("description", MAX_TEXT_LENGTH)
    columns = ("id", name, "from_to", description, "account_id", "amount_value", first_word, "date")
    return [ProposalSubject(*row) for row in subjects.values_list(*columns)]


def propose_transfer_categories(
    company: Company, subjects: list[ProposalSubject], *, with_pairs: bool = False
) -> dict[UUID, list[CategoryProposal]]:
    """Return a transfer proposal for each whose other party is the company, a holder or one of its accounts.

    Args:
        with_pairs: also for legs of proposed transfers between own accounts. Five more statements.
    """
    identity = load_company_identity(company)
    own_ids = {
        subject.id
        for subject in subjects
        if is_own_party(subject.from_to, subject.description, subject.account_id, identity)
    }
    if with_pairs:
        unnamed = {
            subject.id: subject.date
            for subject in subjects
            if subject.id not in own_ids and not find_third_party(subject.from_to, identity)
        }
        if unnamed:
            own_ids |= find_own_transfer_ids(company, unnamed.values()) & unnamed.keys()
    if not own_ids:
        return {}
    transfer_category = Category.objects.for_company(company.id).for_system_key(TRANSFER_SYSTEM_KEY)
    transfer_id = transfer_category.values_list("id", flat=True).get()
    return {row_id: [build_transfer_proposal(transfer_id)] for row_id in own_ids}


def propose_by_name(
    company: Company, subjects: list[ProposalSubject], *, only_certain: bool = False
) -> dict[UUID, list[CategoryProposal]]:
    """Return proposals from transactions with the same name, weighed if the latest twenty disagree.

    ``only_certain`` leaves out names without a certain choice.
    """
    counts, directed_choices = count_categorizations_by_name(company, {subject.name for subject in subjects})
    names_with_others = {name for name, _, _ in directed_choices}
    unweighed_proposals = {name: rank_proposals(COUNTERPARTY, uses.items()) for name, uses in counts.items()}
    if only_certain:
        unweighed_proposals = {name: choices for name, choices in unweighed_proposals.items() if choices[0].is_certain}
    ambiguous_names = [name for name, choices in unweighed_proposals.items() if len(choices) > 1]
    compared_by_name = list_compared_categorizations(company, ambiguous_names) if ambiguous_names else {}
    directed_choices |= {
        (name, choice, traits.amount > 0) for name, uses in compared_by_name.items() for choice, traits in uses
    }
    directed_choices |= find_directed_choices(
        company,
        {
            (subject.name, proposal.categorization.choice, subject.is_incoming)
            for subject in subjects
            if subject.name not in compared_by_name
            for proposal in unweighed_proposals.get(subject.name, ())
        },
    )
    return {
        subject.id: [
            proposal.with_other_names() if subject.name in names_with_others else proposal
            for proposal in rank_directed_proposals(
                subject, counts[subject.name], directed_choices, compared_by_name.get(subject.name, ())
            )
        ]
        for subject in subjects
        if subject.name in unweighed_proposals
    }


def rank_directed_proposals(
    subject: ProposalSubject,
    counts: Mapping[PastCategorization, int],
    directed_choices: Set[DirectedChoice],
    past_uses: Sequence[tuple[CategoryLine, TransactionTraits]],
) -> list[CategoryProposal]:
    """Return the counted choices: those of the subject's direction first, then the heaviest if any are compared."""
    known_choices = {categorization.choice for categorization in counts}
    compared_uses = [(choice, traits) for choice, traits in past_uses if choice in known_choices]
    return rank_proposals(
        COUNTERPARTY,
        counts.items(),
        weigh_choices(subject.traits, compared_uses) if compared_uses else None,
        {choice for choice in known_choices if (subject.name, choice, subject.is_incoming) in directed_choices},
    )


def find_directed_choices(company: Company, requested_choices: Set[DirectedChoice]) -> set[DirectedChoice]:
    """Return those that the latest transactions of their names bear out; one statement."""
    if not requested_choices:
        return set()
    keys = [
        {"name": name, "category_id": category_id.hex, "pl_type": pl_type, "inward": is_incoming}
        for name, (category_id, pl_type), is_incoming in requested_choices
    ]
    rows = fetch_history_rows(DIRECTIONS_SQL, company=company, keys=json.dumps(keys))
    return {(name, (category_id, pl_type), is_incoming) for name, category_id, pl_type, is_incoming in rows}


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
        COMPARED_SQL, company=company, keys=json.dumps(names)
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


def count_categorizations_by_name(
    company: Company, names: Iterable[str]
) -> tuple[dict[str, dict[PastCategorization, int]], set[DirectedChoice]]:
    """Return by counterparty name how its latest transactions were categorized, and how often.

    Also returns the directions of those under other names.
    """
    keys = set(names) - {""}
    counts: dict[str, dict[PastCategorization, int]] = defaultdict(dict)
    directed_choices: set[DirectedChoice] = set()
    if not keys:
        return counts, directed_choices
    # One JSON text: writing and reading an array of names took a third of the query's time.
    keys_json = json.dumps(list(keys))
    for name, *columns, count in fetch_history_rows(BY_NAME_SQL, company=company, keys=keys_json):
        counts[name][PastCategorization(*columns)] = count
    for name, *columns, is_incoming, count in list_uses_under_other_names(company, keys_json):
        categorization = PastCategorization(*columns)
        counts[name][categorization] = counts[name].get(categorization, 0) + count
        directed_choices.add((name, categorization.choice, is_incoming))
    return counts, directed_choices


def list_uses_under_other_names(company: Company, names: str) -> list[Any]:
    """Return categorizations of transactions under other names for which a counterparty of these names was chosen."""
    counterparty_rows = fetch_history_rows(COUNTERPARTIES_SQL, company=company, keys=names)
    for statement in (CHOSEN_ELSEWHERE_SQL, BY_COUNTERPARTY_SQL):
        if counterparty_rows:
            ids, keys = zip(*counterparty_rows, strict=True)
            counterparty_rows = fetch_history_rows(
                statement, company=company, ids=format_uuid_array(ids), keys=json.dumps(keys)
            )
    return counterparty_rows


def propose_for_unknown_counterparties(
    company: Company, subjects: list[ProposalSubject]
) -> dict[UUID, list[CategoryProposal]]:
    """Return proposals from transactions with a similar text, else a similar name, else on the same account.

    They say what a payment is for, but not whose it is: only a transaction without a name gets the counterparty of
    those with a similar text.
    """
    proposals_by_id: dict[UUID, list[CategoryProposal]] = {}
    for propose in (propose_by_similar_texts, propose_by_similar_names, propose_by_account):
        if remaining := [subject for subject in subjects if subject.id not in proposals_by_id]:
            proposals_by_id |= dict(propose(company, remaining))
    return {
        subject.id: [
            proposal if proposal.kind == TEXT and not subject.from_to.strip() else proposal.without_counterparty()
            for proposal in proposals_by_id.get(subject.id, [])
        ]
        for subject in subjects
    }


def propose_by_similar_names(
    company: Company, subjects: list[ProposalSubject]
) -> Iterable[tuple[UUID, list[CategoryProposal]]]:
    """Yield proposals from names that share a rare word, such as “care” or “railways”."""
    words = {word for subject in subjects for word in extract_name_words(subject.name)}
    uses: dict[str, list[tuple[str, PastCategorization, int]]] = defaultdict(list)
    for word, name, *columns, count in (
        fetch_history_rows(BY_NAME_WORD_SQL, company=company, words=list(words)) if words else ()
    ):
        uses[word].append((name, PastCategorization(*columns), count))
    shared_by_id = {
        subject.id: {word: uses[word] for word in extract_name_words(subject.name) if word in uses}
        for subject in subjects
    }
    directed_choices = find_directed_choices(
        company,
        {
            (name, categorization.choice, subject.is_incoming)
            for subject in subjects
            for rows in shared_by_id[subject.id].values()
            for name, categorization, _ in rows
        },
    )
    for subject in subjects:
        if shared := shared_by_id[subject.id]:
            same_direction = {
                categorization.choice
                for rows in shared.values()
                for name, categorization, _ in rows
                if (name, categorization.choice, subject.is_incoming) in directed_choices
            }
            yield subject.id, propose_by_name_words(shared, same_direction)


def propose_by_similar_texts(
    company: Company, subjects: list[ProposalSubject]
) -> Iterable[tuple[UUID, list[CategoryProposal]]]:
    """Yield proposals from transactions in the same direction with the most similar texts: an invoice that was sent
    says nothing about one that was paid. The texts begin with the same word, after words such as "direct debit".
    """
    keys = list({(subject.first_word, subject.is_incoming) for subject in subjects if subject.first_word})
    uses_by_key: dict[tuple[str, str, bool], list[tuple[frozenset[str], PastCategorization]]] = {}
    words, directions = [key[0] for key in keys], [key[1] for key in keys]
    for word, direction, description, *columns in (
        fetch_history_rows(BY_WORD_SQL, company=company, words=words, inward=directions) if keys else ()
    ):
        uses_by_key.setdefault((word, extract_first_word(description), direction), []).append(
            (extract_text_words(description), PastCategorization(*columns))
        )
    for subject in subjects:
        first_word = extract_first_word(subject.description)
        similar = uses_by_key.get((subject.first_word, first_word, subject.is_incoming))
        if first_word and similar:
            yield subject.id, propose_by_text(subject.description, similar)


def propose_by_account(
    company: Company, subjects: list[ProposalSubject]
) -> Iterable[tuple[UUID, list[CategoryProposal]]]:
    """Yield what most of the latest transactions of the same account and direction were categorized as."""
    keys = list({(subject.account_id, subject.is_incoming) for subject in subjects})
    counts: dict[tuple[UUID, bool], list[tuple[PastCategorization, int]]] = {}
    accounts, directions = [key[0] for key in keys], [key[1] for key in keys]
    for account_id, direction, *columns, count in (
        fetch_history_rows(ON_ACCOUNT_SQL, company=company, accounts=accounts, inward=directions) if keys else ()
    ):
        counts.setdefault((account_id, direction), []).append((PastCategorization(*columns), count))
    for subject in subjects:
        if account_counts := counts.get((subject.account_id, subject.is_incoming)):
            yield subject.id, propose_by_account_use(account_counts, is_incoming=subject.is_incoming)

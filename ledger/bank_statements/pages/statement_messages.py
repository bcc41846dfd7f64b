"""Messages about the import of bank statements: what it would do, and what it did."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.pages.amount_formats import format_count
from ledger.bank_statements.actions.statement_results import StatementImportResult
from ledger.imports.row_errors import format_balance_fault

SHOWN_NAMES = 5  # of files in an archive


def list_balance_faults(received: StatementImportResult) -> list[str]:
    """Describe why accounts of a file are not reconciled with its balance column, each named if there are several."""
    faults = [
        (outcome.account.name, format_balance_fault(outcome.statement.balance_fault))
        for outcome in received.statements
        if outcome.statement.balance_fault
    ]
    is_named = len(received.statements) > 1
    return [f"{name}: {text}" if is_named else text for name, text in faults]


def format_entry_counts(received: StatementImportResult) -> list[str]:
    """Describe what happens to a file's entries; zero counts are left out."""
    templates = [_("{count} new"), ngettext("{count} duplicate", "{count} duplicates", received.known)]
    counts = [received.count, received.known]
    if received.booked:
        templates.append(_("{count} pending now booked"))
        counts.append(received.booked)
    if received.lapsed:
        templates.append(_("{count} pending skipped because the bank no longer reports them"))
        counts.append(received.lapsed)
    if other_accounts := received.other_accounts:
        templates.append(
            ngettext("{count} other account skipped", "{count} other accounts skipped", len(other_accounts))
        )
        counts.append(len(other_accounts))
    if skipped_count := received.skipped_before_data_start:
        templates.append(_("{count} before the data start date"))
        counts.append(skipped_count)
    if closed_count := received.skipped_closed:
        templates.append(_("{count} in closed months left out"))
        counts.append(closed_count)
    texts = [template.format(count=format_count(count)) for template, count in zip(templates, counts, strict=True)]
    if files := received.left_out_files:
        text = ngettext("{count} file left out ({names})", "{count} files left out ({names})", len(files))
        texts.append(text.format(count=format_count(len(files)), names=", ".join(files[:SHOWN_NAMES])))
    return texts


def format_statement_result(received: Sequence[StatementImportResult]) -> str:
    """Describe what was stored."""
    names = ("count", "booked", "known", "lapsed", "gone", "skipped_closed")
    count, booked, known, lapsed, gone, closed = (sum(getattr(each, name) for each in received) for name in names)
    transactions = ngettext("{count} transaction", "{count} transactions", count).format(count=format_count(count))
    files = ngettext("{count} file", "{count} files", len(received)).format(count=format_count(len(received)))
    lapsed_said = ngettext(
        "{count} pending entry skipped: the bank no longer reports it.",
        "{count} pending entries skipped: the bank no longer reports them.",
        lapsed,
    )
    optional_sentences = [
        (
            booked,
            ngettext(
                "{count} pending transaction is now booked.", "{count} pending transactions are now booked.", booked
            ),
        ),
        (known, ngettext("{count} duplicate skipped.", "{count} duplicates skipped.", known)),
        (lapsed, lapsed_said),
        (
            gone,
            ngettext("{count} pending transaction was deleted.", "{count} pending transactions were deleted.", gone),
        ),
        (closed, ngettext("{count} in a closed month left out.", "{count} in closed months left out.", closed)),
    ]
    sentences = [_("{transactions} imported from {files}.").format(transactions=transactions, files=files)]
    sentences += [text.format(count=format_count(count)) for count, text in optional_sentences if count]
    for result in received:
        name = f"{result.batch.filename}: " if len(received) > 1 and result.batch else ""
        sentences += [f"{name}{fault}" for fault in list_balance_faults(result)]
    return " ".join(sentences)

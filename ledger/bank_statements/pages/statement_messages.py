"""Messages about the import of bank statements: what it would do, and what it did."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.errors import DomainError, ValidationFailed
from companies.pages.amount_formats import format_count
from ledger.bank_statements.actions.statement_results import StatementImportResult
from ledger.bank_statements.errors import ColumnsUnknown, DateOrderUnknown, MappingAmbiguous
from ledger.bank_statements.queries.statement_accounts import AccountUnknown
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
    new = _("{count} new") if received.count else _("Nothing new")
    templates = [new, ngettext("{count} duplicate", "{count} duplicates", received.known)]
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


def describe_refusal(refusal: DomainError) -> str:
    """Describe an error for the page."""
    if isinstance(refusal, AccountUnknown):
        number = refusal.number
        if number:
            message = _("No account has the number {number}. Create it, or choose an account without a number below.")
            return message.format(number=number)
        return _("The file contains no account number. Choose its account below, or create it.")
    if isinstance(refusal, DateOrderUnknown):
        return _("The date order is unclear. Choose day first or month first below.")
    files = [refusal.file] if isinstance(refusal, ColumnsUnknown) and refusal.file else []
    files = refusal.files if isinstance(refusal, MappingAmbiguous) else files
    if files:
        message = _("Unpack the archive, import {names} alone, and answer there how to read the columns.")
        return message.format(names=", ".join(f"“{name}”" for name in files[:SHOWN_NAMES]))
    if isinstance(refusal, ColumnsUnknown):
        return _("No date and amount columns found. You choose them once the other files are imported.")
    if isinstance(refusal, MappingAmbiguous):
        return _(
            "Something in this file is unclear, such as the sign of its amounts. "
            "You are asked about it once the other files are imported."
        )
    return refusal.errors[0][2] if isinstance(refusal, ValidationFailed) else refusal.detail


def needs_reading_choice(refusal: DomainError) -> bool:
    """Return whether a person can say how to read the file: a table that is in no archive."""
    if isinstance(refusal, ColumnsUnknown):
        return not refusal.file
    return isinstance(refusal, MappingAmbiguous) and not refusal.files

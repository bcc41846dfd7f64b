"""Messages about a finished import of a table."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import ngettext

from companies.pages.amount_formats import format_count
from ledger.imports.actions.imports import TransactionImportOutcome
from ledger.models import Account


def format_import_outcome(outcome: TransactionImportOutcome, account: Account) -> str:
    """Describe what an import did."""
    count, bad = outcome.count, outcome.bad
    sentence = ngettext(
        "{count} transaction imported into {account}.", "{count} transactions imported into {account}.", count
    )
    parts = [sentence.format(count=format_count(count), account=account.name)]
    if outcome.duplicates:
        known_sentence = ngettext("{count} duplicate skipped.", "{count} duplicates skipped.", outcome.duplicates)
        parts.append(known_sentence.format(count=format_count(outcome.duplicates)))
    if old := outcome.skipped_before_data_start:
        early_sentence = ngettext(
            "{count} before the data start date skipped.", "{count} before the data start date skipped.", old
        )
        parts.append(early_sentence.format(count=format_count(old)))
    if closed := outcome.skipped_closed:
        closed_sentence = ngettext("{count} in a closed month left out.", "{count} in closed months left out.", closed)
        parts.append(closed_sentence.format(count=format_count(closed)))
    if bad:
        parts.append(
            ngettext("{count} row with errors skipped.", "{count} rows with errors skipped.", bad).format(
                count=format_count(bad)
            )
        )
    return " ".join(parts)


def find_other_currency(rows: Iterable[Any], account: Account) -> str:
    """Return the currency of all rows where it is not the account's; empty where one is, or there are several."""
    currencies = {row.amount_currency or account.default_currency for row in rows}
    return currencies.pop() if len(currencies) == 1 and account.default_currency not in currencies else ""

"""Imported rows as lines for COPY."""

from collections.abc import Iterable, Iterator

from companies.models import AuditContext, generate_id
from ledger.bulk.copy import NULL, escape_copy_text, escape_nullable_copy_text
from ledger.categorization.actions.full_categorization import FullCategorization
from ledger.imports.import_body import TransactionImportItem
from ledger.imports.queries.categorization_lookup import CategorizationLookup
from ledger.models import ImportBatch
from ledger.transactions.fields import TRANSACTION_TEXTS

TRANSACTION_COPY_COLUMNS = (
    "company_id",
    "id",
    "account_id",
    "date",
    "from_to",
    "description",
    "amount_value",
    "amount_currency",
    *(text.column for text in TRANSACTION_TEXTS),
    "pending",
    "external_id",
    "bank_reference",
    "import_batch_id",
    "source",
    "created_user_id",
    "last_updated_user_id",
    "created_time",
    "last_updated_time",
    "categorizations_auto_assigned",
    "exclude_from_auto_categorization",
    "transferred_value",
    "categorized_value",
)


def to_copy_lines(
    rows: Iterable[TransactionImportItem],
    *,
    batch: ImportBatch,
    context: AuditContext,
    lookup: CategorizationLookup,
    categorizations: list[FullCategorization],
) -> Iterator[str]:
    """Yield each row as a line in COPY's text format; append categorizations of rows that have a category."""
    company_id, actor = str(batch.company_id), NULL if context.actor is None else context.actor
    tail = f"\t{batch.id}\t{batch.source}\t{actor}\t{actor}\t{context.time}\t{context.time}\tf\tf\t0\t"
    text_columns = [text.column for text in TRANSACTION_TEXTS]
    for item in rows:
        texts = "\t".join(escape_nullable_copy_text(getattr(item, column)) for column in text_columns)
        row_id, categorized_value = generate_id(), "0"
        if item.category_id is not None:
            categorizations.append(lookup.to_full_categorization(item, row_id))
            categorized_value = item.amount_value
        yield (
            f"{company_id}\t{row_id}\t{item.account_id}\t{item.date}\t"
            f"{escape_copy_text(item.from_to)}\t{escape_copy_text(item.description)}\t"
            f"{item.amount_value}\t{item.amount_currency}\t{texts}\t"
            f"{'t' if item.pending else 'f'}\t{escape_nullable_copy_text(item.external_id)}\t"
            f"{escape_nullable_copy_text(item.bank_reference)}{tail}{categorized_value}\n"
        )

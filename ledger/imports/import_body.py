"""The body of an import of transactions: its items, their limits, and what is wrong with an invalid one."""

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from django.utils.translation import gettext as _

from companies.api.limits import MAX_ERRORS
from companies.errors import build_unknown_id_entry
from ledger.bulk.request_bodies import BulkBody, BulkRequest
from ledger.imports.calc.running_balance import TableBalances
from ledger.transactions.fields import TRANSACTION_TEXTS

MAX_IMPORT_ITEMS = 100_000  # decisions on the import: more goes in several calls
MAX_TEXT_LENGTH = 10_000
MAX_ID_LENGTH = 200

Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT_LENGTH)]
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_LENGTH)]  # an empty one would name all rows without
if TYPE_CHECKING:

    class TransactionTexts(msgspec.Struct):
        """The texts of a transaction; the table may have more."""

        notes: str | None = None

else:
    TransactionTexts = msgspec.defstruct(
        "TransactionTexts",
        [
            (text.column, Annotated[str, msgspec.Meta(max_length=text.max_length)] | None, None)
            for text in TRANSACTION_TEXTS
        ],
        kw_only=True,
        gc=False,
        rename="camel",
    )


class ImportCounterparty(msgspec.Struct, gc=False):
    id: str
    type: str | None = None


class TransactionImportItem(TransactionTexts, gc=False, rename="camel", kw_only=True):
    """One transaction as it is sent; amount, currency and ids are checked against the company."""

    account_id: str
    date: date
    amount_value: str
    amount_currency: str | None = None
    from_to: Text | None = None
    description: Text | None = None
    external_id: Id | None = None
    pending: bool | None = None
    category_id: str | None = None
    pl_type: str | None = None
    counterparty: ImportCounterparty | None = None

    @property
    def bank_reference(self) -> str | None:
        """The bank's reference; only files have one."""
        return None


class StrictImportCounterparty(ImportCounterparty, gc=False, forbid_unknown_fields=True):
    pass


class StrictImportItem(TransactionImportItem, gc=False, rename="camel", forbid_unknown_fields=True):
    """An item without unknown fields: the usual case, and the fastest to check."""

    counterparty: StrictImportCounterparty | None = None


class TransactionImportBody(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    transactions: Annotated[list[StrictImportItem], msgspec.Meta(max_length=MAX_IMPORT_ITEMS)]
    dry_run: bool = False
    on_error: Literal["abort", "skip"] = "abort"
    duplicates: Literal["keep", "skip"] = "keep"
    closed: Literal["refuse", "skip"] = "refuse"


@dataclass(slots=True, kw_only=True)
class TransactionImportRequest(BulkRequest):
    """The options and items of an import of transactions."""

    duplicates: str = "keep"
    closed: str = "refuse"  # what becomes of new rows in closed months
    skip_possible_duplicates: bool = False  # whether rows with the day and amount of one that is there are left out
    format: str | None = None  # of the file that the rows come from
    has_unique_ids: bool = False  # whether an id of the file is that of one row alone
    trust_external_ids: bool = True  # files do not: banks give one id to several payments
    balances: TableBalances | None = None  # that the balance column of the file proves


ITEM_FIELDS = {field.encode_name: field for field in msgspec.structs.fields(TransactionImportItem)}
NESTED_ITEM_FIELDS = dict.fromkeys(ITEM_FIELDS, ()) | {"counterparty": ImportCounterparty.__struct_fields__}
TEXT_FIELDS = {"fromTo", "description", "externalId", *(text.name for text in TRANSACTION_TEXTS)}


def read_import_item(item: Any, pointer: str, request: TransactionImportRequest) -> TransactionImportItem | None:
    """Return the item, or None and add its errors to the request."""
    errors = list(list_item_errors(item, pointer))
    # Beyond the number of errors that are returned, one error marks the row as invalid.
    request.errors += errors if len(request.errors) < MAX_ERRORS else errors[:1]
    return None if errors else msgspec.convert(item, TransactionImportItem)


def list_item_errors(item: Any, pointer: str) -> Any:
    """Yield (pointer, code, detail) of everything that is wrong with one item by itself."""
    if not isinstance(item, dict):
        yield pointer, "invalid_value", _("Must be an object.")
        return
    for name, declared in ITEM_FIELDS.items():
        if name not in item:
            if declared.required:
                yield f"{pointer}/{name}", "required", _("This field is required.")
            continue
        try:
            msgspec.convert(item[name], declared.type)
        except msgspec.ValidationError:
            yield describe_value_error(name, item[name], f"{pointer}/{name}")
        else:
            if isinstance(item[name], str) and "\0" in item[name]:
                yield f"{pointer}/{name}", "invalid_characters", _("Must not contain NUL characters.")


def describe_value_error(name: str, value: Any, pointer: str) -> tuple[str, str, str]:
    """Return (pointer, code, detail) of a value with a wrong type or length."""
    if name == "date":
        if isinstance(value, str) and len(value) == len("2026-01-31"):
            return pointer, "invalid_date", _("This date does not exist.")
        return pointer, "invalid_value", _("Must be a date (YYYY-MM-DD).")
    if name == "amountValue":
        return pointer, "invalid_decimal", _('Must be a decimal string such as "-1234.56".')
    if name == "externalId" and value == "":
        return pointer, "must_not_be_empty", _("Must not be empty. Omit the field if there is no value.")
    if isinstance(value, str) and name in TEXT_FIELDS:
        return pointer, "too_long", _("The text is too long.")
    if name in ("accountId", "categoryId") and value is not None:
        return build_unknown_id_entry(pointer)
    return pointer, "invalid_value", _("Wrong type.")


TRANSACTION_IMPORT_BODY = BulkBody(
    body_type=TransactionImportBody,
    request_type=TransactionImportRequest,
    max_items=MAX_IMPORT_ITEMS,
    item_fields=NESTED_ITEM_FIELDS,
    parse_item=read_import_item,
)

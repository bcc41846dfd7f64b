"""How pages of the ledger change something: with the shapes of the API and one after the other, as its endpoints do."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.http import Http404
from rest_framework.exceptions import ValidationError

from companies.api.errors import field_errors
from companies.errors import FieldErrors, Refusal
from companies.pages.typed import Typed
from companies.pages.visits import Change, Visit
from ledger.models import Transaction
from ledger.one_writer import one_writer


@contextmanager
def ledger_change(visit: Visit) -> Iterator[Change]:
    """``visit.change``, behind the company's other changes; what a shape finds wrong is a refusal like any other."""
    with visit.change() as change:
        one_writer(visit.company)
        try:
            yield change
        except ValidationError as error:
            raise refusal_of(error) from None


def refusal_of(error: ValidationError) -> FieldErrors:
    entries = field_errors(error.get_full_details())
    return FieldErrors([(each["pointer"], each["code"], each["detail"]) for each in entries])


def parsed(shape: Any, body: Any, *, partial: bool = False) -> dict[str, Any]:
    """A body through a shape of the API. Raises ValidationError."""
    serializer = shape(data=body, partial=partial)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def show_refusal(form: Typed, refusal: Refusal, *, fields: Mapping[str, str]) -> None:
    """Puts a refusal to the fields of the page, named by the beginnings of pointers, the longest first."""
    own = Typed(values={})
    own.refuse(refusal)
    for pointer, detail in own.errors.items():
        beginnings = sorted((each for each in fields if f"{pointer}/".startswith(f"{each}/")), key=len)
        name = fields[beginnings[-1]] if beginnings else pointer
        form.errors.setdefault(name, detail)


def found(visit: Visit, transaction_id: UUID, *, locked: bool = False) -> Transaction:
    """A transaction of the company. Raises Http404."""
    rows = Transaction.objects.of(visit.company.id).filter(id=transaction_id)
    row = (rows.select_for_update() if locked else rows).first()
    if row is None:
        raise Http404
    return row

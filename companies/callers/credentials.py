"""What recognising any credential needs: the company that it opens, and the permissions that it holds."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection

from companies.models import Company
from companies.permissions import Permissions, known

COMPANY_FIELDS = [field.attname for field in Company._meta.concrete_fields]
COMPANY_COLUMNS = ", ".join(f'c."{field.column}"' for field in Company._meta.concrete_fields)
_KNOWN: dict[tuple[str, ...], Permissions] = {}


def first_row(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The first row that a statement answers, or None; no ORM, for this stands before every request."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()


def company_of(columns: Sequence[Any]) -> Any:
    """The company of a row that was read without the ORM, its columns in the order of ``COMPANY_FIELDS``."""
    company: Any = Company.from_db("default", COMPANY_FIELDS, columns)
    if isinstance(company.system_payment_provider, str):  # JSON comes as its text
        company.system_payment_provider = json.loads(company.system_payment_provider)
    return company


def known_cached(permissions: tuple[str, ...]) -> Permissions:
    """The parsed set of a stored list; there are few different lists."""
    if permissions not in _KNOWN:
        if len(_KNOWN) > 1000:
            _KNOWN.clear()
        _KNOWN[permissions] = known(permissions)
    return _KNOWN[permissions]

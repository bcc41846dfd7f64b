"""What recognising any credential needs: one statement that finds everything, and the company it opens."""

import json
from collections.abc import Sequence
from typing import Any

from django.db import InterfaceError, OperationalError, connection

from companies.models import Company
from companies.permissions import Permissions, known

COMPANY_FIELDS = [field.attname for field in Company._meta.concrete_fields]
COMPANY_COLUMNS = ", ".join(f'c."{field.column}"' for field in Company._meta.concrete_fields)
_KNOWN: dict[tuple[str, ...], Permissions] = {}


def first_row(statement: str, values: Any) -> tuple[Any, ...] | None:
    """The row of a statement that is the first of its request.

    Django asks the server whether a kept connection still lives before it is used again. This statement asks the same:
    where the connection turns out dead it is made anew, and the statement sent once more.
    """
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        return row_of(statement, values)
    except (OperationalError, InterfaceError):
        if connection.in_atomic_block:
            raise
        connection.close()
        return row_of(statement, values)


def row_of(statement: str, values: Any) -> tuple[Any, ...] | None:
    """The only row that a statement answers, or None."""
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

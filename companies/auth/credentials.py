"""Helpers for authenticating a credential without the ORM: company and permissions from a raw row."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection

from companies.models import Company
from companies.permissions import Permissions, parse_permissions

COMPANY_FIELDS = [field.attname for field in Company._meta.concrete_fields]
COMPANY_COLUMNS = ", ".join(f'c."{field.column}"' for field in Company._meta.concrete_fields)
_PERMISSIONS_CACHE: dict[tuple[str, ...], Permissions] = {}


def fetch_first_row(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the first row of a SQL query, or None. No ORM, because it runs before every request."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()


def build_company_from_row(columns: Sequence[Any]) -> Any:
    """Build a Company from raw columns in the order of ``COMPANY_FIELDS``."""
    company: Any = Company.from_db("default", COMPANY_FIELDS, columns)
    if isinstance(company.system_payment_provider, str):  # raw JSON is text
        company.system_payment_provider = json.loads(company.system_payment_provider)
    return company


def parse_permissions_cached(permissions: tuple[str, ...]) -> Permissions:
    """Return the parsed permissions of a stored list. Few different lists exist, so they are cached."""
    if permissions not in _PERMISSIONS_CACHE:
        if len(_PERMISSIONS_CACHE) > 1000:
            _PERMISSIONS_CACHE.clear()
        _PERMISSIONS_CACHE[permissions] = parse_permissions(permissions)
    return _PERMISSIONS_CACHE[permissions]

"""The rows that most tests begin with: Acme and Globex, their people, an API key of each, and an account of Acme.

Each set is created once per database with the product's own actions, and stored in a separate schema. A fixture copies
the rows of a set, which takes a tenth of the time.
"""

import copy
from collections.abc import Callable
from typing import Any

from django.db import connection, transaction
from django.test import Client

from companies.auth import api_keys
from companies.models import Company, User
from companies.permissions import ALL_PERMISSIONS, Role
from tests import database_cleanup, factories

SCHEMA = "base_rows"
FIRST_TABLES = ("companies_user", "companies_company", "companies_directoryentry")  # other tables refer to them


def create_key(company_name: str) -> str:
    """Create an API key of every permission; return its text."""
    company = Company.objects.get(name=company_name)
    context = factories.make_audit_context()
    api_key = api_keys.create_api_key(
        company=company, context=context, name="test", permissions=ALL_PERMISSIONS, creator=None
    )
    return api_key.text


def create_member(company_name: str, email: str, role: Role) -> User:
    return factories.make_member(Company.objects.get(name=company_name), email, role=role)


def create_bank_account() -> str:
    """Create Acme's bank account over HTTP, so that the audit log names the key; return its id."""
    path = f"/companies/{_created_values['acme'].id}/accounts"
    headers = {"Authorization": f"Bearer {_created_values['acme_key']}"}
    values = {"name": "Main", "type": "bank"}
    response = Client().post(path, values, content_type="application/json", headers=headers)
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


SETS: dict[str, Callable[[], Any]] = {
    "acme": lambda: factories.make_company(name="Acme"),
    "acme_key": lambda: create_key("Acme"),
    "bank": create_bank_account,  # of tests that have the key too
    "alice": lambda: create_member("Acme", "alice@acme.example", Role.OWNER),
    "bob": lambda: create_member("Acme", "bob@acme.example", Role.VIEWER),
    "globex": lambda: factories.make_company(name="Globex"),
    "globex_key": lambda: create_key("Globex"),
    "carol": lambda: create_member("Globex", "carol@globex.example", Role.OWNER),
}
_created_values: dict[str, Any] = {}  # what each set's function returned


def prepare_sets() -> None:
    """Create the sets of rows and keep them; the tables stay empty."""
    with transaction.atomic():
        columns = list_columns()
        remaining: dict[str, set[bytes]] = {}
        rows_by_set = {}
        for name, create in SETS.items():
            _created_values[name] = create()
            rows = {table: read_rows(table, names) for table, names in columns.items()}
            rows_by_set[name] = {
                table: find_new_rows(lines, remaining.get(table, set())) for table, lines in rows.items()
            }
            remaining = rows
        connection.run_on_commit.clear()  # no mails
        transaction.set_rollback(True)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}")
        for name, rows in rows_by_set.items():
            store_set(cursor, name, {table: lines for table, lines in rows.items() if lines}, columns)


def find_new_rows(rows: set[bytes], earlier: set[bytes]) -> set[bytes]:
    """Return the rows that were added; none where some were only changed, such as the time of a company's last update.

    No set does both to one table.
    """
    added = rows - earlier
    if not earlier <= rows:
        assert len(rows) == len(earlier)
        return set()
    return added


def store_set(cursor: Any, name: str, rows: dict[str, set[bytes]], columns: dict[str, str]) -> None:
    """Store the rows of one set and the function that copies them."""
    statements = []
    for table, lines in rows.items():
        cursor.execute(f"CREATE TABLE {SCHEMA}.{name}_{table} AS SELECT {columns[table]} FROM {table} LIMIT 0")
        with cursor.copy(f"COPY {SCHEMA}.{name}_{table} FROM STDIN") as sink:
            sink.write(b"".join(sorted(lines)))
        statements.append(f"INSERT INTO {table} ({columns[table]}) SELECT * FROM {SCHEMA}.{name}_{table};")
    cursor.execute(
        f"CREATE FUNCTION {SCHEMA}.copy_{name}() RETURNS void LANGUAGE plpgsql AS "
        f"$$ BEGIN {' '.join(statements)} END $$"
    )


def copy_set(name: str) -> Any:
    """Copy a set's rows into the tables; return what its function returned."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {SCHEMA}.copy_{name}()")
    return copy.deepcopy(_created_values[name])


def read_rows(table: str, columns: str) -> set[bytes]:
    """Return the rows of a table as COPY writes them."""
    with connection.cursor() as cursor, cursor.copy(f"COPY (SELECT {columns} FROM {table}) TO STDOUT") as source:
        return {bytes(line) + b"\n" for line in b"".join(source).splitlines()}


def list_columns() -> dict[str, str]:
    """Return {table: its columns, without generated ones} in an order in which rows can be inserted."""
    tables = database_cleanup.list_tables() - database_cleanup.RATE_TABLES
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)
              FROM information_schema.columns
             WHERE table_schema = 'public' AND is_generated = 'NEVER' AND table_name = ANY(%s)
             GROUP BY table_name
            """,
            [sorted(tables)],
        )
        columns = dict(cursor.fetchall())
    return {table: columns[table] for table in (*FIRST_TABLES, *sorted(columns.keys() - {*FIRST_TABLES}))}

"""The rules of the house, as tests: what every route, table and file keeps to."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.urls import get_resolver
from psycopg import errors as postgres

from companies.api.company_viewset import CompanyViewSet
from companies.api.errors import FRAMEWORK_CODES
from companies.api.openapi.error_codes import FIELD_CODES, list_error_codes
from companies.models import CompanyForeignKey
from companies.models.tenancy import list_company_references
from companies.permissions import Permission
from tests.row_factory import create_any_row, drop_checks_and_triggers, list_company_models
from tests.url_routes import list_url_routes

ROOT = Path(__file__).resolve().parent.parent
APPS = (
    *("config", "companies", "ledger", "planning", "analytics", "notifications", "oauth", "webhooks", "assistants"),
    "tests",
)
MAX_LINES = 400
MAX_TEST_LINES = 500  # tables of cases are long and quickly read

# Views whose own ones every member may ask for, each with its reason.
OWN_RESOURCE_VIEWS = {
    "ConnectedAppViewSet": "an app's connection belongs to the person who allowed it",
    "OwnMembershipViewSet": "whoever belongs to a company may leave it",
}

# Indexes of company tables that do not start with the company, each with its reason.
OTHER_INDEXES = {
    "audit_entry_by_request": "staff are told the id of a request before they know its company",
    "companies_membership_user_id": "staff find a company by who belongs to it, and a deleted person is looked for",
}


def test_every_company_route_declares_its_permissions():
    routes = list_url_routes(get_resolver())
    callbacks = [callback for route, callback in routes if route.startswith("companies/<str:company_id>")]
    assert len(callbacks) > 100
    undeclared = {
        f"{callback.cls.__name__}.{action}"
        for callback in callbacks
        for action in callback.actions.values()
        if callback.cls.__name__ not in OWN_RESOURCE_VIEWS
        and not isinstance(callback.cls.permission_for.get(action), Permission)
    }
    assert undeclared == set()
    assert [callback.cls for callback in callbacks if not issubclass(callback.cls, CompanyViewSet)] == []


def query_columns(query: str, table: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, {"table": f'"{table}"'})
        return cursor.fetchall()


_KEYS = """
    SELECT c.conname, c.contype, c.confrelid::regclass::text,
           ARRAY(SELECT attname::text FROM unnest(c.conkey) WITH ORDINALITY AS k (number, place)
                   JOIN pg_attribute ON attrelid = c.conrelid AND attnum = k.number ORDER BY k.place),
           ARRAY(SELECT attname::text FROM unnest(c.confkey) WITH ORDINALITY AS k (number, place)
                   JOIN pg_attribute ON attrelid = c.confrelid AND attnum = k.number ORDER BY k.place)
      FROM pg_constraint c WHERE c.conrelid = %(table)s::regclass AND c.contype IN ('p', 'u', 'f')
"""
_INDEXES = """
    SELECT i.indexrelid::regclass::text, a.attname FROM pg_index i
      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
     WHERE i.indrelid = %(table)s::regclass
"""


@pytest.mark.django_db
def test_company_table_keys_start_with_company():
    tables = {model._meta.db_table: model for model in list_company_models()}
    assert len(tables) > 40
    for table, model in tables.items():
        keys = query_columns(_KEYS, table)
        assert [names for _, kind, _, names, _ in keys if kind == "p"] == [["company_id", "id"]], table
        for name, kind, target, names, referred in keys:
            if kind == "u":
                assert names[0] == "company_id", name
            elif kind == "f" and target in tables:
                assert (names[0], referred) == ("company_id", ["company_id", "id"]), name
        referred = {names[-1] for _, kind, _, names, _ in keys if kind == "f"}
        assert {field.column for field in list_company_references(model)} <= referred, table
        assert any(kind == "f" and names[0] == "company_id" for _, kind, _, names, _ in keys), table


@pytest.mark.django_db
def test_company_table_indexes_start_with_company():
    tables = [model._meta.db_table for model in list_company_models()]
    others = {
        name.strip('"') for table in tables for name, first in query_columns(_INDEXES, table) if first != "company_id"
    }
    assert {name for name in others if not name.startswith(tuple(OTHER_INDEXES))} == set()


@pytest.mark.django_db
def test_derived_table_primary_keys_start_with_company():
    from django.apps import apps

    derived = [model for model in apps.get_models() if isinstance(model._meta.pk, models.CompositePrimaryKey)]
    for model in derived:
        if "company" in {field.name for field in model._meta.concrete_fields}:
            (primary,) = [names for _, kind, _, names, _ in query_columns(_KEYS, model._meta.db_table) if kind == "p"]
            assert primary[0] == "company_id", model._meta.label


@pytest.fixture
def drop_checks(db) -> None:
    drop_checks_and_triggers()


def test_database_rejects_references_into_other_company(drop_checks, acme, globex):
    references = [(model, field) for model in list_company_models() for field in list_company_references(model)]
    assert len(references) > 30
    for model, field in references:
        with transaction.atomic():
            check_reference(model, field, acme, globex)
            transaction.set_rollback(True)


def check_reference(model: Any, field: CompanyForeignKey, acme: Any, globex: Any) -> None:
    row = create_any_row(model, acme)
    target = field.remote_field.model
    own, foreign = create_any_row(target, acme), create_any_row(target, globex)
    statement = f'UPDATE "{model._meta.db_table}" SET "{field.column}" = %s WHERE company_id = %s AND id = %s'
    with connection.cursor() as cursor:
        cursor.execute(statement, [own.id, acme.id, row.id])
        assert cursor.rowcount == 1
        with pytest.raises(IntegrityError) as refusal, transaction.atomic():
            cursor.execute(statement, [foreign.id, acme.id, row.id])
    assert isinstance(refusal.value.__cause__, postgres.ForeignKeyViolation), f"{model._meta.label}.{field.name}"


SOURCES = [
    path
    for app in APPS
    for path in sorted((ROOT / app).rglob("*.py"))
    if "migrations" not in path.parts and "__pycache__" not in path.parts
]


def test_source_files_stay_within_line_limit():
    lengths = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in SOURCES}
    most = {path: MAX_TEST_LINES if path.parts[0] == "tests" else MAX_LINES for path in lengths}
    assert {str(path): lines for path, lines in lengths.items() if lines > most[path]} == {}


MAX_LINE_LENGTH, MAX_LINE_LENGTH_LEGACY = 200, 260  # of a template
LONG_LINE_FILES = {"base.html", "analytics", "ledger", "notifications", "planning"}  # to be broken like the others


def test_template_lines_stay_within_length_limit():
    result = {}
    for path in (ROOT / "templates").rglob("*.html"):
        where = path.relative_to(ROOT / "templates")
        most = MAX_LINE_LENGTH_LEGACY if where.parts[0] in LONG_LINE_FILES else MAX_LINE_LENGTH
        result |= {
            f"{where}:{n}": len(line) for n, line in enumerate(path.read_text().splitlines(), 1) if len(line) > most
        }
    assert result == {}


def list_nodes(name: str, kind: type[ast.AST]) -> list[tuple[str, Any]]:
    """The nodes of the product's files of this name, or in folders of it, each with its place."""
    product = [path.relative_to(ROOT) for path in SOURCES if path.relative_to(ROOT).parts[0] != "tests"]
    files = [path for path in product if name in {path.stem, path.parent.name}]
    assert len(files) > 20
    return [
        (f"{path}:{node.lineno}", node)
        for path in files
        for node in ast.walk(parse_file(path))
        if isinstance(node, kind)
    ]


def test_serializers_do_not_query_database():
    queries = {"objects", "_base_manager", "_default_manager", "cursor", "refresh_from_db"}
    attributes = list_nodes("serializers", ast.Attribute)
    assert [f"{place} {node.attr}" for place, node in attributes if node.attr in queries] == []


def test_views_never_catch_exceptions():
    """Those of oauth and of assistants stand outside: what they answer has a body of its own, by its standards."""
    caught = [place for place, _ in list_nodes("views", ast.Try) if not place.startswith(("oauth", "assistants"))]
    assert caught == [], "A refusal is answered in companies.api.errors."


FORMS = {"form", "request.session"}  # the framework's own: a form for a password, and where somebody is signed in


def test_pages_never_save_directly():
    """They call an action, the same as the API."""
    saved = [
        (place, call.func.value)
        for place, call in list_nodes("pages", ast.Call)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "save"
    ]
    assert [place for place, saved_object in saved if ast.unparse(saved_object) not in FORMS] == []


# Pictures in colour, signs that some systems draw so, and the mark that asks for it.
EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\ufe0f]")
# Categories' emoji are the customers' own; those that a company begins with are told by the API and shown by no page.
EMOJI_FILES = {"ledger/models/categories.py"}
SHOWN = [
    *(path for path in SOURCES if "tests" not in path.relative_to(ROOT).parts),
    *(path for path in sorted(ROOT.glob("templates/**/*.html"))),
    *(path for path in sorted(ROOT.glob("static/*")) if path.suffix in {".css", ".js", ".svg"}),
]


def test_icons_are_svg_not_emoji():
    places = [path.relative_to(ROOT) for path in SHOWN]
    result = {str(path): [text for text in list_texts(path) if EMOJI.search(text)] for path in places}
    assert {path: texts for path, texts in result.items() if texts and path not in EMOJI_FILES} == {}


SEARCH_TEMPLATES = {"search.html"}  # forms of a company that stand below no page


def test_every_company_form_has_breadcrumbs():
    forms = [path for path in ROOT.glob("templates/**/*.html") if is_form_of_a_company(path.read_text())]
    assert len(forms) > 20
    assert [path.name for path in forms if 'class="crumbs"' not in path.read_text()] == [*SEARCH_TEMPLATES]


def is_form_of_a_company(template: str) -> bool:
    return "{% block main_class %}form-page" in template and "{{ company.name }}{% endblock" in template


def list_texts(path: Path) -> list[str]:
    """The lines of a template or of what browsers load; of a module, its words without what explains it."""
    if path.suffix != ".py":
        return (ROOT / path).read_text().splitlines()
    nodes = [*ast.walk(parse_file(path))]
    explained = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    words = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in explained]
    return [node.value for node in words if isinstance(node.value, str)]


def parse_file(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text())


def list_literal_codes(path: Path) -> set[str]:
    """The error codes that a file writes out: as a class's code, beside a pointer, or as a message's key."""
    return {code for node in ast.walk(ast.parse(path.read_text())) for code in iterate_codes(node)}


def iterate_codes(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.keyword(arg="code", value=ast.Constant(value=str(code))):
            yield code
        case ast.Assign(targets=[ast.Name(id="code" | "default_code")], value=ast.Constant(value=str(code))):
            yield code
        case ast.Assign(targets=[ast.Name(id="default_error_messages")], value=ast.Dict(keys=keys)):
            yield from (FRAMEWORK_CODES.get(key.value, key.value) for key in keys if isinstance(key, ast.Constant))
        case ast.Call(func=ast.Attribute(attr="wrong"), args=[_, ast.Constant(value=str(code)), *_]):
            yield code
        case ast.Call(func=ast.Name(id="FieldErrors"), args=[ast.List(elts=[*entries])]):
            for entry in entries:
                if isinstance(entry, ast.Tuple) and isinstance(entry.elts[1], ast.Constant):
                    yield entry.elts[1].value


def test_every_error_code_is_documented():
    paths = [path for path in SOURCES if path.relative_to(ROOT).parts[0] not in {"tests", "oauth", "config"}]
    for path in paths:
        importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    kinds = {"refused", "invalid", "conflict"}  # never answered: each refusal has a code of its own
    documented = {*FIELD_CODES, *list_error_codes(), *kinds}
    missing = {str(path.relative_to(ROOT)): list_literal_codes(path) - documented for path in paths}
    assert {path: codes for path, codes in missing.items() if codes} == {}, (
        "Say in companies.api.openapi.error_codes what they mean."
    )


def test_error_code_page_lists_every_code(client):
    page = client.get("/docs/errors").content.decode()
    for code in (*FIELD_CODES, *list_error_codes()):
        assert f"<code>{code}</code>" in page

"""Who asks every machine of a cluster: no request but the admin's, whatever it is about, and whoever sends it.

While any other test runs, its requests are looked at too (tests/conftest.py). Here every operation of the document and
every page is asked for, so that none is left out.
"""

import re

import pytest
from django.db import transaction
from django.test import Client
from django.urls import get_resolver

from config.databases import distribution
from config.databases.placement import COMPANY_PLACES, get_table_place
from tests import cross_shard_statements, factories
from tests.api.request_bodies import FILES, UNKNOWN_ID, build_form, build_path, create_all_rows
from tests.conftest import Api
from tests.test_isolation import build_valid_body
from tests.test_permissions import OPERATIONS, OUTSIDE
from tests.url_routes import list_url_routes

pytestmark = pytest.mark.django_db

MEMBERS = '"companies_membership"'
STATEMENTS = {
    f"SELECT 1 FROM {MEMBERS} WHERE company_id = %s": set(),
    f"SELECT 1 FROM {MEMBERS} WHERE company_id = %s::uuid AND user_id = %s": set(),
    f"SELECT 1 FROM {MEMBERS} m WHERE m.company_id IN (%s, %s)": set(),
    f"SELECT 1 FROM {MEMBERS} m WHERE m.company_id = ANY (%s)": set(),
    f"SELECT 1 FROM {MEMBERS} WHERE user_id = %s": {"companies_membership"},
    f"SELECT 1 FROM {MEMBERS} WHERE company_id = %s OR user_id = %s": {"companies_membership"},
    f"SELECT 1 FROM {MEMBERS} WHERE company_id <> %s": {"companies_membership"},
    f"SELECT 1 FROM {MEMBERS} m JOIN companies_company c ON c.id = m.company_id WHERE c.id = %s": set(),
    f"SELECT 1 FROM {MEMBERS} m JOIN companies_company c ON c.id = m.id WHERE c.id = %s": {"companies_membership"},
    f"SELECT 1 FROM {MEMBERS} m, oauth_consentgrant g WHERE g.company_id = %s AND m.company_id = g.company_id": set(),
    "SELECT 1 FROM companies_company c WHERE c.id = %s AND EXISTS "
    "(SELECT 1 FROM companies_apikey k WHERE k.company_id = c.id)": set(),
    "SELECT (SELECT count(*) FROM companies_apikey k WHERE k.company_id = c.id) "
    "FROM companies_company c WHERE c.id = %s": {"companies_apikey"},
    "WITH k AS (SELECT * FROM companies_apikey) SELECT 1 FROM k WHERE company_id = %s": {"companies_apikey"},
    "SELECT 1 FROM companies_company WHERE id = %s UNION SELECT 1 FROM companies_company": {"companies_company"},
    "UPDATE companies_company SET name = %s WHERE id = %(id)s": set(),
    "UPDATE companies_company SET name = %s": {"companies_company"},
    "DELETE FROM companies_apikey WHERE id = %s": {"companies_apikey"},
    "INSERT INTO companies_apikey (company_id) VALUES (%s)": set(),
    "INSERT INTO companies_apikey SELECT * FROM companies_apikey WHERE name LIKE 'a%%'": {"companies_apikey"},
    "SELECT 1 FROM companies_user WHERE email = %s": set(),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_without_company_filter_are_detected(statement):
    assert cross_shard_statements.find_untied_tables(statement) == STATEMENTS[statement]


def test_checked_tables_are_those_colocated_with_company():
    assert set(cross_shard_statements.list_company_columns()) == {
        each.name for each in distribution.list_tables() if get_table_place(each) in COMPANY_PLACES
    }


# ---------------------------------------------------------------------------------------------- requests


def test_api_operations_query_no_table_across_shards(api, alice, statement_log):
    """With a key; what other credentials ask besides, tests/test_permissions.py sends to each operation."""
    ids = create_all_rows(api) | {"users": str(alice.id)}
    for path, method in [*OPERATIONS, *OUTSIDE]:
        with transaction.atomic():
            body = build_valid_body(method, path, ids) if method in ("POST", "PUT") else None
            there = build_path(path, ids)
            if body is not None and path in FILES:
                api.client.post(api.path(there), build_form(path, body), headers=api.headers)
            else:
                getattr(api, method.lower())(there, *([body] if body is not None else []))
            transaction.set_rollback(True)
    assert statement_log.statements > len(OPERATIONS)
    assert statement_log.cross_shard == []


PAGES = sorted({route for route, _ in list_url_routes(get_resolver()) if route.startswith("app")})


def test_pages_query_no_table_across_shards(api, owner, alice, statement_log):
    factories.make_member(factories.make_company(name="Second"), alice.email)
    ids = create_all_rows(api)
    for route in PAGES:
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: get_parameter_value(found[1], ids, api), route)
        for send in (owner.get, owner.post, Client().get):
            with transaction.atomic():
                answer = send(path)
                if answer.streaming:
                    b"".join(answer.streaming_content)
                transaction.set_rollback(True)
    assert statement_log.cross_shard == []


def get_parameter_value(parameter: str, ids: dict[str, str], api: Api) -> str:
    """What stands for a parameter of a page's address."""
    if parameter == "company_id":
        return str(api.company.id)
    kind = parameter.removesuffix("_id")
    kind = {"key": "api_key", "membership": "member", "customer": "counterpartie", "group": "account_group"}.get(
        kind, kind
    )
    names = [name for name in ids if name.removesuffix("s") in (kind, kind.replace("y", "ie"))]
    return ids[names[0]] if names else UNKNOWN_ID


# What staff ask of all companies: (address, tables).
UNTIED_ADMIN_PAGES = {
    ("/admin/companies/auditentry/", ("companies_auditentry",)),
    ("/admin/companies/company/", ("companies_apikey", "companies_company", "companies_membership")),
    ("/admin/companies/company/", ("companies_company",)),
    ("/admin/oauth/consentgrant/", ("companies_company",)),
}


def test_only_listed_admin_pages_query_across_shards(client, acme, statement_log):
    staff = factories.UserFactory(is_staff=True, is_superuser=True)
    client.force_login(staff, backend="django.contrib.auth.backends.ModelBackend")
    for route, _ in list_url_routes(get_resolver()):
        if re.fullmatch(r"admin/\w+/\w+/", route):
            assert client.get(f"/{route}").status_code == 200
    assert {(where, tables) for _, where, tables, _ in statement_log.by_staff} == UNTIED_ADMIN_PAGES

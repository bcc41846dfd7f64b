"""How many queries a request costs, and that none of them reads a whole company table."""

from uuid import uuid4

import pytest
from django.apps import apps
from django.db import connection

from companies.models import ApiKey, AuditContext, AuditEntry, Company, DirectoryEntry, Membership, User
from companies.models.tenancy import CompanyOwned
from ledger.models import Account, AccountGroup, Transaction
from tests import cluster, factories
from tests.sql_trace import record_statements

pytestmark = pytest.mark.django_db

TABLES = sorted(m._meta.db_table for m in apps.get_models() if issubclass(m, CompanyOwned))


@pytest.fixture
def used_api(api):
    """An API client whose key was used within this minute."""
    api.get("/companies")
    return api


def fill_company(company: Company, audit_context: AuditContext, count: int) -> None:
    """That many rows of everything that a list shows."""
    AccountGroup.objects.bulk_create(
        AccountGroup(company=company, name=f"g{n}").mark_created(audit_context) for n in range(count)
    )
    Account.objects.bulk_create(
        Account(
            company=company, name=f"a{n}", type="bank", default_currency="EUR", include_in_cash_balance=True
        ).mark_created(audit_context)
        for n in range(count)
    )
    people = User.objects.bulk_create(User(email=f"{uuid4()}@x.example") for _ in range(count))
    keys = [
        ApiKey(company=company, name="k", digest=b"x", last_four="abcd", permissions=[]).mark_created(audit_context)
        for _ in range(count)
    ]
    DirectoryEntry.objects.bulk_create(DirectoryEntry(subject=e.id, company_id=company.id) for e in [*people, *keys])
    Membership.objects.bulk_create(
        Membership(company=company, user=u, role="viewer").mark_created(audit_context) for u in people
    )
    ApiKey.objects.bulk_create(keys)
    AuditEntry.objects.bulk_create(
        AuditEntry(company=company, time=audit_context.time, action="x.y", entity_type="x") for _ in range(count)
    )


# Where the address names no company, the directory is asked for the key's when the key is first seen.
each_api_key_path = pytest.mark.parametrize("path", ["", "/companies"])


@each_api_key_path
def test_request_with_api_key_needs_one_query(used_api, path, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert used_api.get(path).status_code == 200


@each_api_key_path
def test_request_with_api_key_sends_one_statement_to_the_database(used_api, path):
    with record_statements() as sent:
        assert used_api.get(path).status_code == 200
    assert len(sent) == 1


def test_deleted_api_key_is_rejected_despite_cache(used_api, acme):
    """A key that is deleted is let in nowhere by what a process remembers of it."""
    key = ApiKey.objects.get(company=acme)
    assert used_api.get("/companies").status_code == 200
    key.delete()
    assert used_api.get("/companies").status_code == 401


def test_statement_recorder_sees_every_statement(acme):
    with record_statements() as sent:
        Company.objects.get(id=acme.id)
        list(Company.objects.raw("SELECT 1 AS id"))
    assert [("SELECT" in line, "base_currency" in line) for line in sent] == [(True, True), (True, False)]


def test_forbidden_request_needs_one_query_and_foreign_company_two(make_api, acme, globex, django_assert_num_queries):
    caller = make_api(acme, "accounts:read")
    caller.get("/companies")
    with django_assert_num_queries(1):
        assert caller.get("members").status_code == 403
    with django_assert_num_queries(2):  # the key is not in that company, but in its own
        assert caller.get(f"/companies/{globex.id}/accounts").status_code == 404


def test_list_needs_two_queries_for_any_number_of_rows(used_api, acme, audit_context, django_assert_num_queries):
    for count in (1, 999):
        fill_company(acme, audit_context, count)
        for path in ("accounts", "account_groups", "members", "api_keys", "audit_log?limit=1000"):
            with django_assert_num_queries(2):
                assert len(used_api.get(path).json()) >= count, path


def test_company_list_needs_constant_queries(sign_in_browser, alice, acme, django_assert_num_queries):
    for n in range(20):
        factories.make_member(factories.make_company(name=f"c{n}"), alice.email)
    caller = sign_in_browser(alice, acme)
    caller.get("/companies")  # notes when the session was seen
    with django_assert_num_queries(4):  # session, user, directory, memberships with their companies
        assert len(caller.get("/companies").json()) == 21


@pytest.mark.skipif(cluster.TESTS_RUN_ON_CLUSTER, reason="each machine of a cluster counts how its own tables are read")
@pytest.mark.django_db(transaction=True)
def test_no_request_scans_a_company_table(api, acme, audit_context):
    others = [factories.make_company(name=f"other {n}") for n in range(3)]
    for company in (acme, *others):
        fill_company(company, audit_context, 500)
        used = Account.objects.for_company(company.id).last()
        Transaction.objects.bulk_create(
            Transaction(
                company=company,
                account=used,
                date=audit_context.time.date(),
                amount_value=1,
                amount_currency="EUR",
                source="manual",
            ).mark_created(audit_context)
            for _ in range(500)
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    account, group = Account.objects.for_company(acme.id).first(), AccountGroup.objects.for_company(acme.id).first()
    member, key = (
        Membership.objects.for_company(acme.id).filter(role="viewer").first(),
        api.post("api_keys", {"name": "x", "permissions": ["accounts:read"]}).json()["id"],
    )
    before = count_table_scans()
    for answer in (
        api.get("/companies"),
        api.get(""),
        api.get(f"accounts/{account.id}"),
        api.put(f"accounts/{account.id}", {"name": "new", "accountGroupId": str(group.id)}),
        api.get(f"account_groups/{group.id}"),
        api.put(f"account_groups/{group.id}", {"name": "new"}),
        api.delete(f"account_groups/{group.id}"),
        api.put(f"accounts/{account.id}/change_group", {"accountGroupId": None}),
        api.delete(f"account_groups/{group.id}"),
        api.delete(f"accounts/{account.id}"),
        api.put(f"members/{member.id}", {"permissions": None}),
        api.delete(f"api_keys/{key}"),
        api.get("audit_log?limit=5"),
        api.get("audit_log?entityType=x&entityId=y"),
    ):
        assert answer.status_code in (200, 409), answer.content
    assert {
        table: count - before[table] for table, count in count_table_scans().items() if count != before[table]
    } == {}


def count_table_scans() -> dict[str, int]:
    """How often each company table was read from end to end; one of few rows may be, it is the quickest way."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (ended,) = cursor.fetchone()
    connection.close()  # a session's statistics are told when it ends
    with connection.cursor() as cursor:
        for _ in range(600):
            cursor.execute("SELECT pg_stat_clear_snapshot(), pg_sleep(0.05)")
            cursor.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [ended])
            if cursor.rowcount == 0:
                break
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT relname, seq_scan FROM pg_stat_user_tables s LEFT JOIN pg_inherits ON inhrelid = s.relid "
            "WHERE coalesce(inhparent::regclass::text, relname) = ANY(%s) AND n_live_tup > 1000",
            [TABLES],
        )
        return dict(cursor.fetchall())

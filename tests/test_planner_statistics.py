"""A small company that is new beside a larger one: the database's statistics know no row of it, and expect none.

No statement of it may then read its rows again for each of them. What is read is counted, not timed.
"""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.bulk import planner_statistics
from tests import cluster

pytestmark = pytest.mark.django_db
ROWS = 150
MAX_ROWS_READ = 30 * ROWS  # by one statement, over all steps of its plan; a row again for each row is 150 times as many


def fill_company(api, count):
    """Transactions with what they were for, but for some, and spread over two accounts and ten counterparties."""
    categories = {each["systemKey"]: each["id"] for each in api.get("categories").json()}
    accounts = [api.post("accounts", {"name": str(n), "type": "bank"}).json()["id"] for n in range(2)]
    parties = [api.post("counterparties", {"name": str(n), "type": "customer"}).json()["id"] for n in range(10)]
    rows = [
        {"accountId": accounts[n % 2], "date": f"2026-{n % 10 + 1:02}-{n % 28 + 1:02}", "fromTo": f"Name {n % 50}"}
        | {"amountValue": f"{n + 1}.00" if n % 2 else f"-{n + 1}.00"}
        | ({"categoryId": categories["revenueOther" if n % 2 else "hosting"]} if n % 10 else {})
        | ({"counterparty": {"id": parties[n % 10]}} if n % 10 else {})
        for n in range(count)
    ]
    assert api.post("transactions/import", {"transactions": rows}).json()["count"] == count
    return {"category": categories["hosting"], "counterparty": parties[2]}


@pytest.fixture(autouse=True)
def explain_remotely(db):
    """Turn off local execution: on a cluster, EXPLAIN fails for rows changed by the same session."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL citus.enable_local_execution TO off")


@pytest.fixture
def analyzed_company(api):
    """Fill Acme and run ANALYZE, so that statistics know only its rows."""
    fill_company(api, 2000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


@pytest.fixture
def new_company_ids(analyzed_company, globex_api):
    """The ids of Globex's rows by name, created after ANALYZE."""
    return fill_company(globex_api, ROWS)


def count_rows_read(statement):
    """How many rows the steps of its plan get and throw away."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
        (plan,) = cursor.fetchone()
    return sum(iterate_plan_steps(plan if isinstance(plan, list) else json.loads(plan)))


def iterate_plan_steps(plan):
    if isinstance(plan, list):
        for each in plan:
            yield from iterate_plan_steps(each)
    elif isinstance(plan, dict):
        removed = [value for name, value in plan.items() if name.startswith("Rows Removed")]
        yield (plan.get("Actual Rows", 0) + sum(removed)) * plan.get("Actual Loops", 1)
        for each in plan.values():
            yield from iterate_plan_steps(each)


def explain_statements(read, *args):
    """The statements that an answer was made of, and how many rows each of them read."""
    with CaptureQueriesContext(connection) as seen:
        answer = read(*args)
    assert answer.status_code == 200, answer.content
    answers = [each["sql"] for each in seen if each["sql"].startswith(("SELECT", "WITH"))]
    assert answers
    return {statement: count_rows_read(statement) for statement in answers}


def count_fetched_rows():
    """How many transactions have been read so far in this database transaction, by triggers too."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'ledger_transaction'"
        )
        return int(cursor.fetchone()[0])


def test_categorizing_a_fresh_import_reads_rows_linearly(globex_api):
    """Statistics know the transactions, and none of them as categorized: any index of those seems empty."""
    count = 1000
    account = globex_api.post("accounts", {"name": "Bank", "type": "bank"}).json()["id"]
    rows = [
        {"accountId": account, "date": f"2026-03-{n % 28 + 1:02}", "amountValue": "-1.00", "fromTo": f"Shop {n}"}
        for n in range(count)
    ]
    assert globex_api.post("transactions/import", {"transactions": rows}).json()["count"] == count
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE ledger_transaction")
    hosting = globex_api.get_category_id("hosting")
    before = count_fetched_rows()
    body = {"selection": {"mode": "filter", "filter": {}, "confirm": True}, "categoryId": hosting}
    assert globex_api.post("transactions/categorize", body).json()["affected"] == count
    assert count_fetched_rows() - before < 20 * count


CELL = {"recognizedFrom": "2026-03", "recognizedTo": "2026-03"}


FILTERS = [
    CELL,
    CELL | {"plType": "cogs"},
    CELL | {"plType": "cogs", "categoryId": "category"},
    {"recognizedFrom": "2026-01"},
    {"categoryId": "category"},
    {"plType": "cogs"},
    {"counterpartyId": "counterparty"},
    {"assignedBy": "person"},
]


def test_list_filters_do_not_reread_all_rows(globex_api, new_company_ids):
    read: dict[str, int] = {}
    for filters in FILTERS:
        named = {name: new_company_ids.get(value, value) for name, value in filters.items()}
        read |= explain_statements(globex_api.get, "transactions", named | {"total": "true", "limit": 10})
    assert {statement: count for statement, count in read.items() if count > MAX_ROWS_READ} == {}


@pytest.mark.skipif(
    cluster.TESTS_RUN_ON_CLUSTER, reason="statistics of a cluster are its machines', which gather them by themselves"
)
def test_only_the_first_large_import_of_a_company_runs_analyze(
    analyzed_company, globex, globex_api, django_capture_on_commit_callbacks
):
    results = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as seen, django_capture_on_commit_callbacks(execute=True):
            fill_company(globex_api, ROWS)
        results.append([each["sql"] for each in seen if each["sql"].startswith("ANALYZE")])
    tables = ["ANALYZE ledger_transaction, ledger_daymovement", "ANALYZE ledger_categorization, ledger_posting"]
    assert results == [tables, []]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tablename FROM pg_stats WHERE attname = 'company_id' AND %s = ANY(most_common_vals::text::text[]) "
            "AND tablename IN ('ledger_transaction', 'ledger_categorization', 'ledger_posting')",
            [str(globex.id)],
        )
        assert len(cursor.fetchall()) == 3


def test_small_import_runs_no_analyze(analyzed_company, globex_api, django_capture_on_commit_callbacks):
    with CaptureQueriesContext(connection) as seen, django_capture_on_commit_callbacks(execute=True):
        fill_company(globex_api, 99)
    assert not [each for each in seen if each["sql"].startswith("ANALYZE") or "pg_stats" in each["sql"]]


def test_import_on_cluster_runs_no_analyze(
    analyzed_company, globex_api, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(planner_statistics, "is_distributed", lambda *_: True)
    monkeypatch.setattr(planner_statistics, "LARGE_LOAD_ROWS", ROWS)
    with CaptureQueriesContext(connection) as seen, django_capture_on_commit_callbacks(execute=True):
        fill_company(globex_api, ROWS)
    assert not [each for each in seen if each["sql"].startswith("ANALYZE")]

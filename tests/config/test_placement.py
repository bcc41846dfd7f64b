"""Where tables belong on a cluster, and in which order they get there; decided without a database."""

from dataclasses import replace

import pytest

from config.databases.placement import PlacementError, Reference, Table, TablePlacement, get_table_place, plan_placement

COMPANY = Table(name="companies_company", base="", key=("id",))
USER = Table(name="companies_user", base="Shared", key=("id",), uniques=(("email",),))
MEMBERSHIP = Table(name="companies_membership", base="", key=("company_id", "id"), uniques=(("company_id", "user_id"),))
TOTAL = Table(name="ledger_total", base="", key=("company_id", "month"), triggers=True)
TOKEN = Table(name="oauth_token", base="Unowned", key=("id",), uniques=(("digest",),), numbered=True)
SESSION = Table(name="django_session", base=None, key=("session_key",))
TABLES = [TOTAL, SESSION, MEMBERSHIP, USER, TOKEN, COMPANY]


def build_reference(table: Table, target: Table, rule: str = "") -> Reference:
    names = f"{table.name}_{target.name}"
    return Reference(table=table.name, name=names, target=target.name, definition=f"FOREIGN KEY … {rule}".strip())


REFERENCES = [
    build_reference(MEMBERSHIP, COMPANY),
    build_reference(MEMBERSHIP, USER),
    build_reference(TOKEN, USER),
    build_reference(SESSION, USER),
]


def list_statements(tables, references=(), **options) -> list[str]:
    results = [
        step.statement for step in plan_placement(tables=tables, references=references, database="app", **options)
    ]
    return [each for each in results if not each.startswith(("SET", "ALTER DATABASE"))]


@pytest.mark.parametrize(
    ("table", "place"),
    [
        pytest.param(COMPANY, TablePlacement.COMPANIES, id="companies, by their id"),
        pytest.param(MEMBERSHIP, TablePlacement.OWNED, id="what is a company's, beside it"),
        pytest.param(TOTAL, TablePlacement.OWNED, id="derived tables too, by their natural key"),
        pytest.param(USER, TablePlacement.SHARED, id="what all read, on every machine"),
        pytest.param(TOKEN, TablePlacement.UNOWNED, id="what is found before its company, on the coordinator"),
        pytest.param(SESSION, TablePlacement.LIBRARY, id="what a library brought, on the coordinator as it is"),
    ],
)
def test_table_kind_determines_placement(table, place):
    assert get_table_place(table) is place


@pytest.mark.parametrize(
    ("table", "said"),
    [
        pytest.param(Table(name="a", base="", key=("id",)), "a has no place", id="neither owned nor declared"),
        pytest.param(Table(name="a", base="", key=()), "a has no place", id="without a key"),
        pytest.param(
            replace(MEMBERSHIP, uniques=(("user_id",),)), r"unique \(user_id\) lacks company_id", id="unique across all"
        ),
        pytest.param(replace(COMPANY, uniques=(("domain",),)), r"unique \(domain\) lacks id", id="unique of companies"),
    ],
)
def test_table_that_cannot_be_distributed_is_rejected(table, said):
    with pytest.raises(PlacementError, match=said):
        get_table_place(table)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        pytest.param(build_reference(TOKEN, COMPANY), "db_constraint=False", id="from the coordinator to companies"),
        pytest.param(
            build_reference(TOKEN, MEMBERSHIP), "db_constraint=False", id="from the coordinator to what is owned"
        ),
        pytest.param(
            build_reference(USER, MEMBERSHIP), "db_constraint=False", id="from what is copied to what is owned"
        ),
        pytest.param(
            build_reference(MEMBERSHIP, TOKEN), "db_constraint=False", id="from what is owned to the coordinator"
        ),
        pytest.param(
            build_reference(USER, SESSION), "db_constraint=False", id="from what is copied to the coordinator"
        ),
        pytest.param(build_reference(MEMBERSHIP, COMPANY, "ON DELETE SET NULL (x)"), "SET NULL", id="that sets null"),
    ],
)
def test_reference_that_cannot_be_distributed_is_rejected(reference, said):
    with pytest.raises(PlacementError, match=said):
        plan_placement(tables=TABLES, references=[reference], database="app")


def test_placement_orders_reference_tables_before_company_tables():
    assert list_statements(TABLES, REFERENCES) == [
        'ALTER TABLE "django_session" DROP CONSTRAINT "django_session_companies_user"',  # for good
        'ALTER TABLE "companies_membership" DROP CONSTRAINT "companies_membership_companies_company"',
        'ALTER TABLE "companies_membership" DROP CONSTRAINT "companies_membership_companies_user"',
        'ALTER TABLE "oauth_token" DROP CONSTRAINT "oauth_token_companies_user"',
        'ALTER TABLE "ledger_total" DISABLE TRIGGER USER',
        "SELECT create_reference_table('companies_user')",
        "SELECT citus_add_local_table_to_metadata('oauth_token')",
        "SELECT create_distributed_table('companies_company', 'id')",
        "SELECT create_distributed_table('companies_membership', 'company_id', colocate_with => 'companies_company')",
        "SELECT create_distributed_table('ledger_total', 'company_id', colocate_with => 'companies_company')",
        "SELECT setval(pg_get_serial_sequence('oauth_token', 'id'), "
        'coalesce((SELECT max(id) FROM "oauth_token"), 0) + 1, false)',
        "SELECT truncate_local_data_after_distributing_table('companies_company')",
        "SELECT truncate_local_data_after_distributing_table('companies_membership')",
        "SELECT truncate_local_data_after_distributing_table('companies_user')",
        "SELECT truncate_local_data_after_distributing_table('ledger_total')",
        'ALTER TABLE "ledger_total" ENABLE TRIGGER USER',
        'ALTER TABLE "companies_membership" ADD CONSTRAINT "companies_membership_companies_company" FOREIGN KEY …',
        'ALTER TABLE "companies_membership" ADD CONSTRAINT "companies_membership_companies_user" FOREIGN KEY …',
        'ALTER TABLE "oauth_token" ADD CONSTRAINT "oauth_token_companies_user" FOREIGN KEY …',
    ]


def test_months_moved_out_of_the_audit_log_are_placed_with_their_company():
    month = Table(name="audit_log_2019_02", base=None, key=("company_id", "id", "time"))
    assert get_table_place(month) is TablePlacement.OWNED


def test_repeated_placement_moves_only_new_tables():
    there = [replace(table, placed=table is not TOTAL) for table in TABLES]
    assert list_statements(there, REFERENCES) == [
        'ALTER TABLE "ledger_total" DISABLE TRIGGER USER',
        "SELECT create_distributed_table('ledger_total', 'company_id', colocate_with => 'companies_company')",
        "SELECT truncate_local_data_after_distributing_table('ledger_total')",
        'ALTER TABLE "ledger_total" ENABLE TRIGGER USER',
    ]


def test_placement_has_no_steps_if_all_tables_are_placed():
    there = [replace(table, placed=True) for table in TABLES]
    assert plan_placement(tables=there, references=REFERENCES, database="app") == []


def test_shard_count_is_set_only_while_companies_table_is_distributed():
    def settings(tables):
        return [step.statement for step in plan_placement(tables=tables, references=(), database="app", shards=64)]

    counted = "SET LOCAL citus.shard_count TO 64"
    assert counted in settings(TABLES)
    assert counted not in settings([replace(table, placed=table is COMPANY) for table in TABLES])

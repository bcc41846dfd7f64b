"""The running schema as a cluster holds it: planned from the models and the catalog, and done where there is one."""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import Model

from companies.models import Shared, Unowned
from config.databases import distribution
from config.databases.placement import TablePlacement, get_table_place
from tests import cluster

ROOT = Path(__file__).resolve().parents[2]
single_machine_only = pytest.mark.skipif(cluster.TESTS_RUN_ON_CLUSTER, reason="this database is distributed already")


MOVING_STATEMENTS = ("SELECT create_", "SELECT citus_add_local_table_to_metadata")


def group_by_placement() -> dict[TablePlacement, set[str]]:
    result: dict[TablePlacement, set[str]] = {place: set() for place in TablePlacement}
    for table in distribution.list_tables():
        result[get_table_place(table)].add(table.name)
    return result


@pytest.mark.django_db
def test_every_table_has_a_placement_on_a_cluster():
    """A new model is CompanyOwned or has a natural key that begins with the company, or is Shared, or Unowned."""
    places = group_by_placement()
    assert places[TablePlacement.COMPANIES] == {"companies_company"}
    assert places[TablePlacement.SHARED] == {
        "companies_directoryentry",
        "companies_user",
        "ledger_rate",
        "ledger_rateload",
        "oauth_application",
        "oauth_clienthost",
    }
    assert {"ledger_transaction", "ledger_posting", "ledger_recurringbook"} <= places[TablePlacement.OWNED]
    ours = ("companies_", "ledger_", "planning_", "notifications_", "oauth_")
    assert {name for name in places[TablePlacement.UNOWNED] if not name.startswith("oauth_")} == {
        "companies_emailchange",
        "companies_idempotencyrecord",
        "companies_passkey",
        "companies_personalentry",
        "companies_ratecounter",
        "companies_recoverycode",
        "companies_session",
    }
    assert {name for name in places[TablePlacement.LIBRARY] if name.startswith(ours)} == {
        "companies_user_groups",  # Django's own, between users and its groups
        "companies_user_user_permissions",
    }


@pytest.mark.django_db
@single_machine_only
def test_distribution_plan_moves_all_tables_except_library_tables():
    places = group_by_placement()
    wanted = {name for place in places if place is not TablePlacement.LIBRARY for name in places[place]}
    moves = [
        step.statement
        for step in distribution.list_distribution_steps()
        if step.statement.startswith(MOVING_STATEMENTS)
    ]
    assert {move.split("'")[1] for move in moves} == wanted
    assert len(moves) == len(wanted)


@pytest.mark.django_db
@single_machine_only
def test_distribution_plan_disables_triggers_while_audit_log_is_copied():
    texts = [step.statement for step in distribution.list_distribution_steps()]
    assert [each for each in texts if "'companies_auditentry" in each] == [
        "SELECT create_distributed_table('companies_auditentry', 'company_id', colocate_with => 'companies_company')",
        "SELECT truncate_local_data_after_distributing_table('companies_auditentry')",
    ]
    for state in ("DISABLE", "ENABLE"):
        assert f'ALTER TABLE "companies_auditentry" {state} TRIGGER USER' in texts


def list_definitions() -> dict[str, str]:
    return {each.name: f"{each.table} {each.definition} {each.target}" for each in distribution.list_foreign_keys()}


@pytest.mark.django_db
@single_machine_only
def test_distribution_plan_restores_references_between_moved_tables():
    """Libraries' tables lose theirs to users."""
    places = {table.name: get_table_place(table) for table in distribution.list_tables()}
    result = {each.name: (places[each.table], places[each.target]) for each in distribution.list_foreign_keys()}
    before = list_definitions()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for step in distribution.list_distribution_steps():
            if step.statement.startswith("ALTER TABLE"):
                cursor.execute(step.statement)
    after = list_definitions()
    assert after.items() <= before.items()
    assert {result[name] for name in before.keys() - after.keys()} == {(TablePlacement.LIBRARY, TablePlacement.SHARED)}
    remaining = {
        (TablePlacement.OWNED, TablePlacement.COMPANIES),
        (TablePlacement.OWNED, TablePlacement.SHARED),
        (TablePlacement.UNOWNED, TablePlacement.SHARED),
    }
    assert {result[name] for name in after} >= remaining


@pytest.mark.django_db
@single_machine_only
def test_distribution_plan_is_printed_as_a_script():
    text = io.StringIO()
    call_command("distribute", "--plan", "--shards", "64", stdout=text)
    first, *_, last = text.getvalue().splitlines()
    assert (first, last) == ("BEGIN;", "COMMIT;")
    assert "SET LOCAL citus.shard_count TO 64;" in text.getvalue()


@pytest.mark.django_db
@single_machine_only
def test_distribute_without_cluster_fails_with_reason():
    with pytest.raises(
        CommandError, match=r"Not part of a Citus cluster. Run CREATE EXTENSION citus here and on every worker."
    ):
        call_command("distribute")


@pytest.mark.parametrize("shards", ["0", "64001"])
def test_distribute_rejects_invalid_shard_count(shards):
    with pytest.raises(CommandError, match="--shards"):
        call_command("distribute", "--shards", shards)


# ------------------------------------------------------------------------------------------ a real cluster

on_a_cluster = pytest.mark.skipif(not cluster.CITUS_URL, reason=cluster.SKIP_REASON)
DATABASE = "distributing"


def run_manage(*arguments: str, url: str, data_dir: Path) -> str:
    """Runs a command on the database as an administrator would; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": url, "SECRET_KEY": "s" * 40, "DATA_DIR": str(data_dir)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def on(tmp_path):
    """Runs commands on a new database of the cluster."""
    cluster.drop_database(DATABASE)
    cluster.join_cluster(DATABASE)
    url = cluster.build_database_url(DATABASE)
    yield lambda *arguments: run_manage(*arguments, url=url, data_dir=tmp_path)
    cluster.drop_database(DATABASE)


def count_table_kinds() -> dict[str, int]:
    with cluster.connect_coordinator(DATABASE) as server:
        return dict(server.execute("SELECT citus_table_type, count(*) FROM citus_tables GROUP BY 1").fetchall())


def count_tables(base: type[Model]) -> int:
    return sum(issubclass(model, base) for model in apps.get_models())


def count_rows(table: str) -> int:
    with cluster.connect_coordinator(DATABASE) as server:
        return int(server.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


LOCAL_INSERT = (
    "INSERT INTO companies_idempotencyrecord (credential, method, path, key, request_digest, status, headers, body, "
    "created_time) VALUES ('a', 'POST', '/', md5(random()::text), '', 200, '{}', '', now())"
)
REMOTE_UPDATE = "UPDATE companies_company SET domain = 'a.example' WHERE id = '{}'"


def list_sent_statements(server: Any, *statements: str) -> str:
    """What the coordinator says to the workers while one transaction makes the statements."""
    texts: list[str] = []
    server.add_notice_handler(lambda notice: texts.append(notice.message_primary))
    server.execute("SET citus.log_remote_commands TO on")
    with server.transaction():
        for statement in statements:
            server.execute(statement)
    return "\n".join(texts)


@on_a_cluster
def test_distribute_moves_schema_with_data_and_service_continues(on):
    on("migrate", "-v0")
    on("update_rates")
    on("register_app", "--name", "Early", "--redirect-uri", "https://early.example/")
    on("demo", "--name", "Early", "--transactions", "500", "--months", "12")
    before = count_rows("ledger_transaction"), count_rows("ledger_daymovement"), count_rows("ledger_posting")
    on("distribute")
    assert count_table_kinds() == {
        "reference": count_tables(Shared),
        "local": count_tables(Unowned),
        "distributed": len(list_owned_tables()),
    }
    assert (count_rows("ledger_transaction"), count_rows("ledger_daymovement"), count_rows("ledger_posting")) == before
    assert "0 statements" in on("distribute")
    assert "exact" in on("rebuild_derived", "--check")
    on("register_app", "--name", "Late", "--redirect-uri", "https://late.example/")
    on("demo", "--name", "Late", "--transactions", "500", "--months", "12")
    assert count_rows("ledger_transaction") > before[0]
    assert "exact" in on("rebuild_derived", "--check")
    on("rebuild_derived")
    assert "exact" in on("rebuild_derived", "--check")
    on("refresh_metrics")
    on("prune")
    assert "0 statements" in on("distribute")


@on_a_cluster
def test_coordinator_rows_commit_with_the_request(on):
    """By two phases: after a crash in between, the effect would be there and the answer that is kept for it not."""
    on("migrate", "-v0")
    on("distribute")
    company = on("create_company", "--name", "Acme", "--currency", "EUR", "--owner", "a@example.com").split()[-1]
    with cluster.connect_coordinator(DATABASE) as server:
        assert "PREPARE TRANSACTION" in list_sent_statements(server, LOCAL_INSERT, REMOTE_UPDATE.format(company))
        assert "PREPARE TRANSACTION" in list_sent_statements(server, REMOTE_UPDATE.format(company), LOCAL_INSERT)
        assert "PREPARE TRANSACTION" not in list_sent_statements(server, REMOTE_UPDATE.format(company))


@on_a_cluster
def test_later_migrations_extend_the_distribution(on):
    """Tables with composite keys are distributed by the migration that creates them."""
    labels = {config.label for config in apps.get_app_configs()}
    for app in sorted(labels & MigrationLoader(None).migrated_apps - {"planning"}):
        on("migrate", "-v0", app)
    on("create_company", "--name", "Early", "--currency", "EUR", "--owner", "a@example.com")
    on("distribute")
    on("migrate", "-v0")
    assert "0 statements" in on("distribute")
    on("update_rates")
    on("demo", "--name", "Late", "--transactions", "500", "--months", "12")
    assert "exact" in on("rebuild_derived", "--check")
    assert count_table_kinds() == {
        "reference": count_tables(Shared),
        "local": count_tables(Unowned),
        "distributed": len(list_owned_tables()),
    }


def list_owned_tables() -> list[str]:
    """What is a company's, told by its columns."""
    with cluster.connect_coordinator(DATABASE) as server:
        result = server.execute(
            "SELECT DISTINCT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
            "WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace "
            "AND (a.attname = 'company_id' OR c.relname = 'companies_company') "
            "AND c.relname NOT IN ('oauth_consentgrant', 'companies_directoryentry')"
        )
        return [name for (name,) in result.fetchall()]

"""Databases of earlier versions: those up to date go on, others are told what to run first."""

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from config.databases.setup import OutdatedDatabase
from config.monitoring import health
from tests.machine import create_prepared_machine, find_free_port


def list_replacing_migrations():
    loader = MigrationLoader(None)  # of the files alone
    return {key: migration.replaces for key, migration in loader.disk_migrations.items() if migration.replaces}


def forget_migrations(*keys):
    recorder = MigrationRecorder(connection)
    for app, name in keys:
        recorder.record_unapplied(app, name)


@pytest.mark.django_db
def test_migrate_records_initial_migrations_on_an_up_to_date_database(capsys):
    keys = list(list_replacing_migrations())
    forget_migrations(*keys)
    call_command("migrate")
    assert "No migrations to apply." in capsys.readouterr().out
    assert MigrationRecorder(connection).applied_migrations().keys() >= set(keys)


@pytest.mark.django_db
@pytest.mark.parametrize("app", ["companies", "ledger", "planning"])
def test_migrate_refuses_database_without_a_replaced_migration(app):
    ((key, replaced),) = ((key, names) for key, names in list_replacing_migrations().items() if key[0] == app)
    forget_migrations(key, replaced[-1])
    with pytest.raises(OutdatedDatabase, match=f"no longer has: {app}.{replaced[-1][1]}. "):
        call_command("migrate", verbosity=0)
    assert replaced[-1] not in MigrationRecorder(connection).applied_migrations()


@pytest.mark.django_db
def test_migrate_refuses_database_that_is_older_than_all_replaced_migrations():
    recorder = MigrationRecorder(connection)
    for key, replaced in list_replacing_migrations().items():
        forget_migrations(key, *replaced)
        recorder.record_applied(key[0], "0001_initial")
    with pytest.raises(OutdatedDatabase, match=r"no longer has: companies\.0001_schema, "):
        call_command("migrate", verbosity=0)


@pytest.mark.django_db
def test_readyz_returns_503_without_a_replaced_migration(client, monkeypatch):
    monkeypatch.setattr(health, "READY_CHECKS", set())
    for key, replaced in list_replacing_migrations().items():
        forget_migrations(key, replaced[-1])
    assert client.get("/readyz").status_code == 503


@pytest.mark.server
def test_commands_name_the_missing_migration_in_one_line():
    with create_prepared_machine() as machine:
        with (
            machine.embedded.run_while_used(),
            psycopg.connect(host=str(machine.embedded.path), user="postgres", dbname="app") as database,
        ):
            for key, replaced in list_replacing_migrations().items():
                for names in (key, replaced[-1]):
                    database.execute("DELETE FROM django_migrations WHERE (app, name) = (%s, %s)", names)
        for command in (["up", "--no-demo", "--port", str(find_free_port())], ["migrate"], ["prune"]):
            done = machine.run(*command)
            assert done.returncode == 1
            (line,) = done.stderr.splitlines()
            assert line.startswith("Error: The database lacks migrations that this version no longer has: companies.")
            assert "Run `manage.py migrate` of commit " in line

"""``manage.py postgres``: PostgreSQL's programs find the service's database, and nobody sees its password."""

from pathlib import Path

import pytest

from config.databases.connection import build_database_settings, build_libpq_environment
from tests.machine import Machine, create_machine


def test_libpq_environment_is_built_from_database_url():
    url = "postgresql://u:hunter2@db.example:6432/books?sslmode=require&connect_timeout=3&application_name=x"
    assert build_libpq_environment(build_database_settings(url=url, data_dir=Path("/nowhere"))) == {
        "PGHOST": "db.example", "PGPORT": "6432", "PGUSER": "u", "PGPASSWORD": "hunter2", "PGDATABASE": "books",
        "PGSSLMODE": "require", "PGCONNECT_TIMEOUT": "3", "PGAPPNAME": "x",
    }  # fmt: skip


@pytest.fixture(scope="module")
def machine():
    with create_machine() as new_machine:
        yield new_machine


@pytest.mark.server
def test_postgres_command_starts_and_stops_embedded_server(machine: Machine):
    done = machine.run("postgres", "psql", "--no-psqlrc", "-Atc", "SELECT current_database(), current_user")
    assert (done.returncode, done.stdout, done.stderr) == (0, "app|postgres\n", "")
    assert not machine.embedded.is_running()


@pytest.mark.server
def test_postgres_command_fails_if_its_program_fails(machine: Machine):
    assert machine.run("postgres", "psql", "--no-psqlrc", "-c", "nonsense").returncode == 1
    unknown = machine.run("postgres", "pg_nonsense")
    assert unknown.returncode == 1
    assert unknown.stderr == "CommandError: Program pg_nonsense not found.\n"

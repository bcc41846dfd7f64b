"""Nobody else on the machine reads what the service keeps."""

import os
import pwd
import stat
import subprocess
from pathlib import Path

import pytest

from config.databases.connection import EmbeddedDatabase
from config.databases.embedded_server import SOCKET_NAME, SUPERUSER, find_binaries, find_server_user
from config.databases.file_permissions import make_private
from tests.config.test_embedded_server import HOLD_SCRIPT, connect_database, start_process
from tests.machine import Machine, create_prepared_machine, find_free_port

UPLOAD = """
import io
from datetime import UTC, datetime
from django.core.files.storage import default_storage, storages
from companies.storage.actions import save_to_storage
for storage in (default_storage, storages["assets"]):
    save_to_storage(storage=storage, name="a/b/secret.txt", content=b"1")
"""
OPEN_HBA = "local all all trust\nhost all all 127.0.0.1/32 trust\n"  # as older releases left it

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes someone else")


def list_open_paths(place: Path) -> list[str]:
    """What anybody but its owner may do something with: group and others alike."""
    results = [each for each in (place, *place.rglob("*")) if not each.is_symlink()]
    return sorted(str(each.relative_to(place)) for each in results if stat.S_IMODE(each.stat().st_mode) & 0o077)


@pytest.fixture
def machine():
    with create_prepared_machine() as prepared_machine:
        yield prepared_machine


def check_private(machine: Machine) -> bool:
    """Root's database runs as somebody else, who passes through DATA_DIR and sees nothing of it."""
    passes = os.geteuid() == 0
    assert stat.S_IMODE((machine.home / "var").stat().st_mode) == (0o710 if passes else 0o700)
    return list_open_paths(machine.home / "var") == (["."] if passes else [])


@pytest.mark.server
def test_data_directory_is_private_and_open_permissions_are_fixed_at_start(machine):
    var = machine.home / "var"
    (var / "files" / "a").mkdir(parents=True)
    (var / "files" / "a" / "old.txt").write_text("1")
    for each in [var, *var.glob("files/**/*"), *var.glob("*-key*"), var / "files"]:
        each.chmod(0o755 if each.is_dir() else 0o644)
    with machine.up(find_free_port(), "--workers", "1"):
        assert check_private(machine), list_open_paths(var)
        assert machine.run("shell", "-v", "0", "-c", UPLOAD).returncode == 0
        assert len(list(var.glob("*/a/b/secret.txt"))) == 2
        assert check_private(machine), list_open_paths(var)
    assert (var / "files/a/old.txt").read_text() == "1"
    assert stat.S_IMODE(machine.home.stat().st_mode) == 0o755, "what is above is not ours"


def test_shared_directory_stays_open_but_service_files_become_private(tmp_path):
    tmp_path.chmod(0o755)
    for name in ("files/a/document", "secret-key", "holiday/picture"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o644)
    (tmp_path / "holiday").chmod(0o755)  # whatever the umask
    make_private(tmp_path, database_user=None)
    assert list_open_paths(tmp_path) == [".", "holiday", "holiday/picture"]


def test_permission_fix_does_not_follow_symlinks(tmp_path):
    outside, var = tmp_path / "outside", tmp_path / "var"
    outside.mkdir()
    (outside / "file").write_text("")
    (var / "files").mkdir(parents=True)
    (var / "files" / "link").symlink_to(outside / "file")
    (var / "files" / "way").symlink_to(outside)
    (var / "assets").symlink_to(outside)
    for each in (outside, outside / "file"):
        each.chmod(0o755)
    make_private(var, database_user=None)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (outside, outside / "file")] == [0o755, 0o755]


# ---------------------------------------------------------------------------------------------- the database


def query_as_user(
    embedded: EmbeddedDatabase, *, uid: int | None = None, role: str = SUPERUSER
) -> subprocess.CompletedProcess[str]:
    """psql, as another user of the machine or another role of the database."""
    return subprocess.run(
        [str(find_binaries() / "psql"), "-h", str(embedded.path), "-U", role, "-d", "app", "-Atwc", "SELECT 'let in'"],
        env={"PATH": os.defpath}, cwd="/", user=uid, group=None if uid is None else pwd.getpwuid(uid).pw_gid,
        extra_groups=None if uid is None else [], capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


def find_other_user(embedded: EmbeddedDatabase) -> int:
    """A user of this machine who has nothing to do with the service."""
    ours = {0, find_server_user(cluster=embedded.path).uid}
    return next(entry.pw_uid for entry in map(pwd.getpwnam, ("nobody", "daemon")) if entry.pw_uid not in ours)


def open_directories(embedded: EmbeddedDatabase) -> None:
    """All doors on the way to the socket stand open, so that the database alone refuses."""
    for place in (embedded.data_dir, embedded.path, embedded.path / SOCKET_NAME):
        place.chmod(0o777)


@as_root
def test_other_system_user_is_rejected_by_directory_and_database(embedded):
    with embedded.run_while_used():
        assert query_as_user(embedded).stdout == "let in\n"
        assert "Permission denied" in query_as_user(embedded, uid=find_other_user(embedded)).stderr
        open_directories(embedded)
        refused = query_as_user(embedded, uid=find_other_user(embedded))
    assert 'Peer authentication failed for user "postgres"' in refused.stderr
    assert refused.stdout == ""


def test_other_database_role_is_rejected(embedded):
    with embedded.run_while_used():
        with connect_database(embedded) as connection:
            connection.execute("CREATE ROLE other LOGIN SUPERUSER")
        refused = query_as_user(embedded, role="other")
        assert query_as_user(embedded).stdout == "let in\n"
    assert "no pg_hba.conf entry" in refused.stderr


@as_root
def test_data_owner_and_root_share_one_embedded_server(new_embedded):
    owner = pwd.getpwnam("nobody")
    new_embedded.data_dir.mkdir()
    os.chown(new_embedded.data_dir, owner.pw_uid, owner.pw_gid)
    with new_embedded.run_while_used():
        assert [query_as_user(new_embedded, uid=uid).stdout for uid in (owner.pw_uid, None)] == ["let in\n", "let in\n"]


def test_open_database_access_is_closed_at_next_start(embedded):
    with embedded.run_while_used():
        pass
    (embedded.path / "pg_hba.conf").write_text(OPEN_HBA)
    (embedded.path / "pg_ident.conf").write_text("")
    with embedded.run_while_used():
        assert check_other_roles_rejected(embedded)


def test_open_database_access_of_running_server_is_closed(embedded):
    with start_process(embedded, HOLD_SCRIPT) as child:
        child.stdout.readline()
        (embedded.path / "pg_hba.conf").write_text(OPEN_HBA)
        with connect_database(embedded) as connection:
            connection.execute("SELECT pg_reload_conf()")
        with embedded.run_while_used():
            assert check_other_roles_rejected(embedded)


def check_other_roles_rejected(embedded: EmbeddedDatabase) -> bool:
    with connect_database(embedded) as connection:
        connection.execute("CREATE ROLE other LOGIN SUPERUSER")
    return (
        query_as_user(embedded).stdout == "let in\n"
        and "no pg_hba.conf entry" in query_as_user(embedded, role="other").stderr
    )

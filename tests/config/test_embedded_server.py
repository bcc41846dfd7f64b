"""The embedded server, tried with real processes and real kills."""

import contextlib
import os
import pwd
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.databases.connection import (
    DatabaseUnavailable,
    EmbeddedDatabase,
    build_database_settings,
    check_database_reachable,
)
from config.databases.embedded_server import EmbeddedServer, find_server_user

ROOT = Path(__file__).resolve().parents[2]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes someone else")

HOLD_SCRIPT = "with embedded.run_while_used():\n    print(pid(), flush=True)\n    sys.stdin.read()"
WRITE_SCRIPT = """
import psycopg
embedded.start()
with psycopg.connect(host=str(embedded.path), user="postgres", dbname="app", autocommit=True) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS written (id bigserial PRIMARY KEY)")
    while True:
        print(connection.execute("INSERT INTO written DEFAULT VALUES RETURNING id").fetchone()[0], flush=True)
"""
SPIN_SCRIPT = """
import psycopg
embedded.start()
with psycopg.connect(host=str(embedded.path), user="postgres", dbname="app") as connection:
    print(connection.info.backend_pid, flush=True)
    connection.execute("DO $$ BEGIN LOOP END LOOP; END $$")
"""


def read_postmaster_pid(embedded: EmbeddedDatabase) -> int:
    return int((embedded.path / "postmaster.pid").read_text().split("\n", 1)[0])


def connect_database(embedded: EmbeddedDatabase, database: str = "app") -> psycopg.Connection:
    return psycopg.connect(host=str(embedded.path), user="postgres", dbname=database, autocommit=True)


def list_written_ids(embedded: EmbeddedDatabase) -> set[int]:
    with connect_database(embedded) as connection:
        return {row[0] for row in connection.execute("SELECT id FROM written")}


SPINNING = "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active'"
WAITING = "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE DATABASE%' AND wait_event_type = 'Lock'"


def wait_until(condition, *, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@contextlib.contextmanager
def start_process(embedded: EmbeddedDatabase, code: str) -> Iterator[subprocess.Popen]:
    """Another Python process with ``embedded`` and ``pid()`` at hand; killed at the end if it still runs."""
    head = (
        "import sys\nfrom pathlib import Path\nfrom config.databases.connection import EmbeddedDatabase\n"
        f"embedded = EmbeddedDatabase(data_dir=Path({str(embedded.data_dir)!r}))\n"
        "pid = lambda: (embedded.path / 'postmaster.pid').read_text().splitlines()[0]\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", head + code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def end_child(child: subprocess.Popen) -> None:
    child.stdin.close()
    assert child.wait(180) == 0


def read_lines_for(child: subprocess.Popen, *, seconds: float) -> list[str]:
    """Whole lines that the child prints within ``seconds``, after at least ten."""
    lines = [child.stdout.readline().strip() for _ in range(10)]
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and select.select([child.stdout], [], [], 0.1)[0]:
        lines.append(child.stdout.readline().strip())
    return lines


def read_remaining_lines(child: subprocess.Popen) -> list[str]:
    """The complete lines left in the pipe of a child that has ended."""
    return [line.strip() for line in child.stdout if line.endswith("\n")]


class TestServer:
    def test_embedded_server_is_private_durable_and_reachable_by_socket_alone(self, embedded):
        with embedded.run_while_used(), connect_database(embedded) as connection:
            shown = {
                name: connection.execute(f"SHOW {name}").fetchone()[0]
                for name in ("listen_addresses", "data_checksums", "fsync", "synchronous_commit", "timezone", "jit")
            }
            collation = connection.execute(
                "SELECT datcollate, pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'app'"
            ).fetchone()
            check_database_reachable(
                build_database_settings(
                    url=f"postgresql://postgres@/app?host={embedded.path}", data_dir=embedded.data_dir
                )
            )
            assert stat.S_IMODE(embedded.path.stat().st_mode) == 0o700
            with pytest.raises(psycopg.Error):
                connection.execute("SELECT 'a-secret'::int")
        assert "a-secret" not in (embedded.path / "server.log").read_text()
        assert shown == {
            "listen_addresses": "", "data_checksums": "on", "fsync": "on", "synchronous_commit": "on",
            "timezone": "UTC", "jit": "off",
        }  # fmt: skip
        assert collation == ("C.UTF-8", "UTF8")

    def test_embedded_server_is_created_once_and_reused(self, new_embedded):
        made = []
        for _ in range(2):
            with new_embedded.run_while_used():
                made.append((new_embedded.path / "PG_VERSION").stat().st_ino)
        assert made[0] == made[1]

    def test_embedded_server_works_after_data_directory_is_moved(self, embedded):
        with embedded.run_while_used(), connect_database(embedded) as connection:
            connection.execute("CREATE TABLE kept (id int)")
        moved = EmbeddedDatabase(data_dir=embedded.data_dir.with_name("moved"))
        embedded.data_dir.rename(moved.data_dir)
        with moved.run_while_used(), connect_database(moved) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


class TestSharing:
    def test_concurrent_first_starts_create_one_embedded_server(self, new_embedded):
        with contextlib.ExitStack() as stack:
            children = [stack.enter_context(start_process(new_embedded, HOLD_SCRIPT)) for _ in range(4)]
            pids = {int(child.stdout.readline()) for child in children}
            assert len(pids) == 1
            assert [path.name for path in new_embedded.data_dir.glob("postgres.new-*")] == []
            for child in children[:3]:
                end_child(child)
                assert new_embedded.is_running()
            end_child(children[3])
        assert not new_embedded.is_running()

    def test_second_command_leaves_embedded_server_running_for_the_first(self, embedded):
        with start_process(embedded, HOLD_SCRIPT) as child:
            child.stdout.readline()
            with embedded.run_while_used():
                pass
            assert embedded.is_running()
            end_child(child)
        assert not embedded.is_running()

    def test_killed_command_does_not_prevent_embedded_server_stop(self, embedded):
        with start_process(embedded, HOLD_SCRIPT) as child:
            pid = int(child.stdout.readline())
            child.kill()
            child.wait()
        assert embedded.is_running()
        with embedded.run_while_used():
            assert read_postmaster_pid(embedded) == pid
        assert not embedded.is_running()

    def test_exiting_forked_worker_does_not_stop_embedded_server(self, embedded):
        fork = (
            "import os\nwith embedded.run_while_used():\n    if os.fork() == 0:\n        sys.exit(0)\n    os.wait()\n"
        )
        with start_process(embedded, fork + "    print(embedded.is_running(), flush=True)") as child:
            assert child.stdout.readline().strip() == "True"

    def test_concurrent_starts_and_stops_of_embedded_server_succeed(self, embedded):
        often = (
            "import psycopg\nfor _ in range(4):\n    with embedded.run_while_used():\n"
            "        psycopg.connect(host=str(embedded.path), user='postgres', dbname='app').close()\n"
        )
        with contextlib.ExitStack() as stack:
            children = [stack.enter_context(start_process(embedded, often)) for _ in range(4)]
            assert [child.wait(180) for child in children] == [0, 0, 0, 0]
        assert not embedded.is_running()


class TestKills:
    def test_acknowledged_rows_survive_kill_of_embedded_server(self, embedded):
        with start_process(embedded, WRITE_SCRIPT) as child:
            acknowledged = read_lines_for(child, seconds=0.2)
            os.kill(read_postmaster_pid(embedded), signal.SIGKILL)
            child.wait(180)
            acknowledged += read_remaining_lines(child)
        with embedded.run_while_used():
            assert {int(line) for line in acknowledged if line} <= list_written_ids(embedded)

    def test_acknowledged_rows_survive_kill_of_writer(self, embedded):
        with start_process(embedded, WRITE_SCRIPT) as child:
            acknowledged = read_lines_for(child, seconds=0.2)
            child.kill()
            child.wait()
            acknowledged += read_remaining_lines(child)
        assert {int(line) for line in acknowledged if line} <= list_written_ids(embedded)

    def test_killed_embedded_server_restarts_immediately(self, embedded):
        with embedded.run_while_used():
            for _ in range(3):
                old = read_postmaster_pid(embedded)
                os.kill(old, signal.SIGKILL)
                embedded.start()
                assert read_postmaster_pid(embedded) != old
                connect_database(embedded).close()

    def test_killed_embedded_server_restarts_despite_busy_backend(self, embedded):
        with start_process(embedded, SPIN_SCRIPT) as child:
            orphan = int(child.stdout.readline())
            with connect_database(embedded) as other:
                assert wait_until(lambda: other.execute(SPINNING).fetchone())
            os.kill(read_postmaster_pid(embedded), signal.SIGKILL)
            assert wait_until(lambda: not embedded.is_running())
            assert Path(f"/proc/{orphan}").exists()
            with embedded.run_while_used():
                connect_database(embedded).close()
                assert not Path(f"/proc/{orphan}").exists() or "Z" in Path(f"/proc/{orphan}/stat").read_text()

    @pytest.mark.parametrize("whose", ["nobody's", "another program's"])
    def test_stale_pid_file_does_not_prevent_embedded_server_start(self, embedded, whose):
        embedded.start()
        left = (embedded.path / "postmaster.pid").read_text().split("\n")
        os.kill(int(left[0]), signal.SIGKILL)
        assert wait_until(lambda: not embedded.is_running())
        left[0] = "4194000" if whose == "nobody's" else str(os.getpid())
        (embedded.path / "postmaster.pid").write_text("\n".join(left))
        assert not embedded.is_running()
        with embedded.run_while_used():
            connect_database(embedded).close()

    @pytest.mark.parametrize("after", [0.2, 0.5])
    def test_interrupted_first_start_is_repaired_by_the_next_start(self, new_embedded, after):
        with start_process(new_embedded, HOLD_SCRIPT) as child:
            time.sleep(after)
            child.kill()
            child.wait()
        with new_embedded.run_while_used():
            connect_database(new_embedded).close()
            assert list(new_embedded.data_dir.glob("postgres.new-*")) == []

    def test_concurrent_database_creation_by_killed_start_is_tolerated(self, embedded):
        with embedded.run_while_used():
            with connect_database(embedded, "postgres") as connection:
                connection.execute("DROP DATABASE app")
                connection.execute("CREATE DATABASE half_made")
            with connect_database(embedded, "postgres") as connection, start_process(embedded, HOLD_SCRIPT) as child:
                connection.execute("BEGIN; ALTER DATABASE half_made RENAME TO app")
                with connect_database(embedded, "postgres") as other:
                    assert wait_until(lambda: other.execute(WAITING).fetchone(), seconds=180)
                connection.execute("COMMIT")
                assert child.stdout.readline() == f"{read_postmaster_pid(embedded)}\n"

    def test_watched_embedded_server_is_restarted(self, embedded):
        with embedded.run_while_used(), embedded.keep_running(every=0.1):
            old = read_postmaster_pid(embedded)
            os.kill(old, signal.SIGKILL)
            assert wait_until(lambda: embedded.is_running() and read_postmaster_pid(embedded) != old)
        assert not embedded.is_running()


class TestRefusals:
    def test_embedded_server_path_too_long_for_socket_is_reported(self, data_dir):
        far = EmbeddedDatabase(data_dir=data_dir / ("long" * 25))
        with pytest.raises(DatabaseUnavailable, match="set DATA_DIR to a shorter one") as caught:
            far.start()
        assert "\n" not in str(caught.value)

    def test_directory_with_other_files_is_not_used_for_embedded_server(self, new_embedded):
        new_embedded.path.mkdir(parents=True)
        (new_embedded.path / "diary.txt").write_text("dear diary")
        with pytest.raises(DatabaseUnavailable, match="not empty and holds no database"):
            new_embedded.start()
        assert (new_embedded.path / "diary.txt").read_text() == "dear diary"

    def test_data_of_another_postgres_version_is_rejected(self, new_embedded):
        new_embedded.path.mkdir(parents=True)
        (new_embedded.path / "PG_VERSION").write_text("16\n")
        with pytest.raises(DatabaseUnavailable, match=r"made by PostgreSQL 16 and the embedded one is 18"):
            new_embedded.start()

    def test_embedded_server_start_failure_is_reported_with_reason(self, embedded):
        with embedded.run_while_used():
            pass
        (embedded.path / "global" / "pg_control").unlink()
        with pytest.raises(DatabaseUnavailable, match=r"does not start: .*pg_control") as caught:
            embedded.start()
        assert "\n" not in str(caught.value)

    @as_root
    def test_inaccessible_parent_directory_is_reported_to_root_and_unchanged(self, data_dir):
        closed = data_dir.parent / "home"
        closed.mkdir(mode=0o700)
        with pytest.raises(DatabaseUnavailable, match=rf"cannot enter {closed} .*set DATA_DIR"):
            EmbeddedDatabase(data_dir=closed / "project" / "var").start()
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700

    @as_root
    def test_embedded_server_started_by_root_runs_as_data_owner(self, data_dir):
        nobody = pwd.getpwnam("nobody")
        data_dir.mkdir()
        os.chown(data_dir, nobody.pw_uid, nobody.pw_gid)
        embedded = EmbeddedDatabase(data_dir=data_dir)
        with embedded.run_while_used():
            assert Path(f"/proc/{read_postmaster_pid(embedded)}").stat().st_uid == nobody.pw_uid
            assert (data_dir / "postgres.lock").stat().st_uid == nobody.pw_uid

    @as_root
    def test_embedded_server_lock_symlink_is_not_followed_by_root(self, data_dir):
        data_dir.mkdir()
        (data_dir.parent / "precious").write_text("")
        (data_dir / "postgres.lock").symlink_to(data_dir.parent / "precious")
        with pytest.raises(DatabaseUnavailable):
            EmbeddedDatabase(data_dir=data_dir).start()
        assert (data_dir.parent / "precious").stat().st_uid == 0

    @as_root
    def test_embedded_server_never_runs_as_root(self, new_embedded):
        assert find_server_user(cluster=new_embedded.path).uid != 0
        with new_embedded.run_while_used():
            assert Path(f"/proc/{read_postmaster_pid(new_embedded)}").stat().st_uid != 0

    def test_missing_embedded_cluster_is_not_running(self, new_embedded):
        assert not EmbeddedServer(path=new_embedded.path, account=None).is_running()

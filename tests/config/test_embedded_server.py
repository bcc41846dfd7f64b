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

HOLD_SCRIPT = "with embedded.hold():\n    print(pid(), flush=True)\n    sys.stdin.read()"
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
    def test_keeps_to_its_socket_and_to_the_disk(self, embedded):
        with embedded.hold(), connect_database(embedded) as connection:
            shown = {
                name: connection.execute(f"SHOW {name}").fetchone()[0]
                for name in ("listen_addresses", "data_checksums", "fsync", "synchronous_commit", "timezone", "jit")
            }
            collation = connection.execute(
                "SELECT datcollate, pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'app'"
            ).fetchone()
        assert shown == {
            "listen_addresses": "", "data_checksums": "on", "fsync": "on", "synchronous_commit": "on",
            "timezone": "UTC", "jit": "off",
        }  # fmt: skip
        assert collation == ("C.UTF-8", "UTF8")

    def test_is_made_once_and_found_again_at_every_later_start(self, embedded):
        made = []
        for _ in range(2):
            with embedded.hold():
                made.append((embedded.path / "PG_VERSION").stat().st_ino)
        assert made[0] == made[1]

    def test_answers_at_an_address_as_any_other_server(self, embedded):
        with embedded.hold():
            check_database_reachable(
                build_database_settings(
                    url=f"postgresql://postgres@/app?host={embedded.path}", data_dir=embedded.data_dir
                )
            )

    def test_is_private_to_its_user(self, embedded):
        with embedded.hold():
            assert stat.S_IMODE(embedded.path.stat().st_mode) == 0o700

    def test_writes_no_statement_into_its_log(self, embedded):
        with embedded.hold(), connect_database(embedded) as connection, pytest.raises(psycopg.Error):
            connection.execute("SELECT 'a-secret'::int")
        assert "a-secret" not in (embedded.path / "server.log").read_text()

    def test_a_data_directory_that_was_moved_works_in_its_new_place(self, embedded):
        with embedded.hold(), connect_database(embedded) as connection:
            connection.execute("CREATE TABLE kept (id int)")
        moved = EmbeddedDatabase(data_dir=embedded.data_dir.with_name("moved"))
        embedded.data_dir.rename(moved.data_dir)
        with moved.hold(), connect_database(moved) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


class TestSharing:
    def test_four_processes_that_race_on_an_empty_directory_get_one_server(self, embedded):
        with contextlib.ExitStack() as stack:
            children = [stack.enter_context(start_process(embedded, HOLD_SCRIPT)) for _ in range(4)]
            pids = {int(child.stdout.readline()) for child in children}
            assert len(pids) == 1
            assert [path.name for path in embedded.data_dir.glob("postgres.new-*")] == []
            for child in children[:3]:
                end_child(child)
                assert embedded.is_running()
            end_child(children[3])
        assert not embedded.is_running()

    def test_a_command_beside_another_leaves_the_server_running(self, embedded):
        with start_process(embedded, HOLD_SCRIPT) as child:
            child.stdout.readline()
            with embedded.hold():
                pass
            assert embedded.is_running()
            end_child(child)
        assert not embedded.is_running()

    def test_a_killed_user_does_not_keep_the_server_from_being_stopped(self, embedded):
        with start_process(embedded, HOLD_SCRIPT) as child:
            pid = int(child.stdout.readline())
            child.kill()
            child.wait()
        assert embedded.is_running()
        with embedded.hold():
            assert read_postmaster_pid(embedded) == pid
        assert not embedded.is_running()

    def test_a_forked_worker_that_leaves_does_not_stop_the_server(self, embedded):
        fork = "import os\nwith embedded.hold():\n    if os.fork() == 0:\n        sys.exit(0)\n    os.wait()\n"
        with start_process(embedded, fork + "    print(embedded.is_running(), flush=True)") as child:
            assert child.stdout.readline().strip() == "True"

    def test_starts_and_stops_in_many_processes_never_meet_a_dead_server(self, embedded):
        often = (
            "import psycopg\nfor _ in range(8):\n    with embedded.hold():\n"
            "        psycopg.connect(host=str(embedded.path), user='postgres', dbname='app').close()\n"
        )
        with contextlib.ExitStack() as stack:
            children = [stack.enter_context(start_process(embedded, often)) for _ in range(4)]
            assert [child.wait(180) for child in children] == [0, 0, 0, 0]
        assert not embedded.is_running()


class TestKills:
    def test_no_acknowledged_row_is_lost_when_the_server_is_killed_under_a_writer(self, embedded):
        with start_process(embedded, WRITE_SCRIPT) as child:
            acknowledged = read_lines_for(child, seconds=1)
            os.kill(read_postmaster_pid(embedded), signal.SIGKILL)
            child.wait(180)
            acknowledged += read_remaining_lines(child)
        with embedded.hold():
            assert {int(line) for line in acknowledged if line} <= list_written_ids(embedded)

    def test_no_acknowledged_row_is_lost_when_the_writer_is_killed(self, embedded):
        with start_process(embedded, WRITE_SCRIPT) as child:
            acknowledged = read_lines_for(child, seconds=1)
            child.kill()
            child.wait()
            acknowledged += read_remaining_lines(child)
        assert {int(line) for line in acknowledged if line} <= list_written_ids(embedded)

    def test_a_killed_server_starts_again_at_once(self, embedded):
        with embedded.hold():
            for _ in range(3):
                old = read_postmaster_pid(embedded)
                os.kill(old, signal.SIGKILL)
                embedded.start()
                assert read_postmaster_pid(embedded) != old
                connect_database(embedded).close()

    def test_a_killed_server_starts_again_although_one_of_its_processes_is_busy(self, embedded):
        with start_process(embedded, SPIN_SCRIPT) as child:
            orphan = int(child.stdout.readline())
            with connect_database(embedded) as other:
                assert wait_until(lambda: other.execute(SPINNING).fetchone())
            os.kill(read_postmaster_pid(embedded), signal.SIGKILL)
            assert wait_until(lambda: not embedded.is_running())
            assert Path(f"/proc/{orphan}").exists()
            with embedded.hold():
                connect_database(embedded).close()
                assert not Path(f"/proc/{orphan}").exists() or "Z" in Path(f"/proc/{orphan}/stat").read_text()

    @pytest.mark.parametrize("whose", ["nobody's", "another program's"])
    def test_a_pid_file_left_behind_does_not_stop_a_start(self, embedded, whose):
        embedded.start()
        left = (embedded.path / "postmaster.pid").read_text().split("\n")
        os.kill(int(left[0]), signal.SIGKILL)
        assert wait_until(lambda: not embedded.is_running())
        left[0] = "4194000" if whose == "nobody's" else str(os.getpid())
        (embedded.path / "postmaster.pid").write_text("\n".join(left))
        assert not embedded.is_running()
        with embedded.hold():
            connect_database(embedded).close()

    @pytest.mark.parametrize("after", [0.12, 0.25, 0.4, 0.6])
    def test_a_first_start_that_is_killed_half_way_is_made_good_by_the_next(self, embedded, after):
        with start_process(embedded, HOLD_SCRIPT) as child:
            time.sleep(after)
            child.kill()
            child.wait()
        with embedded.hold():
            connect_database(embedded).close()
            assert list(embedded.data_dir.glob("postgres.new-*")) == []

    def test_the_database_that_a_killed_start_had_asked_for_may_come_while_the_next_one_asks(self, embedded):
        with embedded.hold():
            with connect_database(embedded, "postgres") as connection:
                connection.execute("DROP DATABASE app")
                connection.execute("CREATE DATABASE half_made")
            with connect_database(embedded, "postgres") as connection, start_process(embedded, HOLD_SCRIPT) as child:
                connection.execute("BEGIN; ALTER DATABASE half_made RENAME TO app")
                with connect_database(embedded, "postgres") as other:
                    assert wait_until(lambda: other.execute(WAITING).fetchone(), seconds=180)
                connection.execute("COMMIT")
                assert child.stdout.readline() == f"{read_postmaster_pid(embedded)}\n"

    def test_a_watched_server_is_started_again(self, embedded):
        with embedded.hold(), embedded.watch(every=0.1):
            old = read_postmaster_pid(embedded)
            os.kill(old, signal.SIGKILL)
            assert wait_until(lambda: embedded.is_running() and read_postmaster_pid(embedded) != old)
        assert not embedded.is_running()


class TestRefusals:
    def test_a_path_too_long_for_a_socket_says_what_to_do(self, data_dir):
        far = EmbeddedDatabase(data_dir=data_dir / ("long" * 25))
        with pytest.raises(DatabaseUnavailable, match="set DATA_DIR to a shorter one") as caught:
            far.start()
        assert "\n" not in str(caught.value)

    def test_a_directory_of_something_else_is_left_alone(self, embedded):
        embedded.path.mkdir(parents=True)
        (embedded.path / "diary.txt").write_text("dear diary")
        with pytest.raises(DatabaseUnavailable, match="not empty and holds no database"):
            embedded.start()
        assert (embedded.path / "diary.txt").read_text() == "dear diary"

    def test_data_of_another_version_is_left_alone(self, embedded):
        embedded.path.mkdir(parents=True)
        (embedded.path / "PG_VERSION").write_text("16\n")
        with pytest.raises(DatabaseUnavailable, match=r"made by PostgreSQL 16 and the embedded one is 18"):
            embedded.start()

    def test_a_server_that_cannot_start_says_why(self, embedded):
        with embedded.hold():
            pass
        (embedded.path / "global" / "pg_control").unlink()
        with pytest.raises(DatabaseUnavailable, match=r"does not start: .*pg_control") as caught:
            embedded.start()
        assert "\n" not in str(caught.value)

    @as_root
    def test_root_is_told_which_directory_is_closed_and_opens_none(self, data_dir):
        closed = data_dir.parent / "home"
        closed.mkdir(mode=0o700)
        with pytest.raises(DatabaseUnavailable, match=rf"cannot enter {closed} .*set DATA_DIR"):
            EmbeddedDatabase(data_dir=closed / "project" / "var").start()
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700

    @as_root
    def test_root_runs_the_server_as_the_owner_of_the_data(self, data_dir):
        nobody = pwd.getpwnam("nobody")
        data_dir.mkdir()
        os.chown(data_dir, nobody.pw_uid, nobody.pw_gid)
        embedded = EmbeddedDatabase(data_dir=data_dir)
        with embedded.hold():
            assert Path(f"/proc/{read_postmaster_pid(embedded)}").stat().st_uid == nobody.pw_uid
            assert (data_dir / "postgres.lock").stat().st_uid == nobody.pw_uid

    @as_root
    def test_root_does_not_follow_a_link_in_place_of_a_lock(self, data_dir):
        data_dir.mkdir()
        (data_dir.parent / "precious").write_text("")
        (data_dir / "postgres.lock").symlink_to(data_dir.parent / "precious")
        with pytest.raises(DatabaseUnavailable):
            EmbeddedDatabase(data_dir=data_dir).start()
        assert (data_dir.parent / "precious").stat().st_uid == 0

    @as_root
    def test_the_server_never_runs_as_root(self, embedded):
        assert find_server_user(cluster=embedded.path).uid != 0
        with embedded.hold():
            assert Path(f"/proc/{read_postmaster_pid(embedded)}").stat().st_uid != 0

    def test_a_missing_cluster_is_not_alive(self, embedded):
        assert not EmbeddedServer(path=embedded.path, account=None).is_running()

"""Full disks and read-only ones: clear answers, no damage, and work again once there is room."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.faults.activities import Imports
from tests.faults.disks import Disk, make_read_only, mount_small_disk
from tests.faults.service import Service
from tests.machine import copy_prepared_data, create_machine, find_free_port, get_status

pytestmark = pytest.mark.server

MEGABYTES = 180  # a new database takes 95
PDF = b"%PDF-1.4\n" + bytes(4 * 1024 * 1024) + b"\n%%EOF\n"
BOUNDARY = "----end-of-part"
UPLOAD = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n'
    "Content-Type: application/pdf\r\n\r\n"
).encode() + PDF + f"\r\n--{BOUNDARY}--\r\n".encode()  # fmt: skip


@pytest.fixture(scope="module")
def crammed() -> Iterator[tuple[Service, Disk]]:
    """A running service on a small disk of its own."""
    with create_machine() as machine, mount_small_disk(machine.home / "var", megabytes=MEGABYTES) as disk:
        copy_prepared_data(machine)
        machine.settings["RATE_LIMIT"] = 10_000_000
        service = Service(machine)
        try:
            service.start()
            service.use_company("Acme")
            yield service, disk
        finally:
            disk.free()
            service.stop()
            machine.embedded.stop()


def upload_file(service: Service) -> tuple[int, str | None]:
    form = f"multipart/form-data; boundary={BOUNDARY}"
    answer = service.caller().ask("POST", service.path("files"), UPLOAD, Content_Type=form)
    return answer.status, answer.body.get("code")


def test_full_disk_rejects_uploads_without_leaving_partial_files(crammed):
    service, disk = crammed
    account = service.account("Main")
    disk.fill()
    for _ in range(3):
        assert upload_file(service) == (507, "storage_full")
    assert service.caller().ask("GET", service.path("files")).body == []
    assert [path for path in (disk.place / "files").rglob("*") if path.is_file()] == []
    assert service.cash(account) == 0  # who only reads notices nothing
    disk.free()
    assert upload_file(service) == (201, None)


def test_full_disk_rejects_imports_and_accepts_them_once_freed(crammed):
    service, disk = crammed
    busy, caller = Imports(service), service.caller()
    busy.turn(caller, 0)
    disk.fill()
    refused = [busy.send(caller, name) for name in ("full-1", "full-2", "full-3")]
    assert {(answer.status, answer.body["code"]) for answer in refused} == {(507, "storage_full")}
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
    assert busy.stored() == dict.fromkeys(busy.kept, busy.ROWS)
    disk.free()
    busy.open |= {"full-1", "full-2", "full-3"}
    busy.settle()
    service.proves_its_figures()


def test_database_stopped_by_full_disk_recovers_once_freed(crammed):
    """The log of changes has no room either: PostgreSQL stops at once, and starts when it can."""
    service, disk = crammed
    busy = Imports(service)
    busy.turn(service.caller(), 0)
    disk.fill()
    stops, refusals = 0, set()
    for number in range(20):
        try:
            service.rows("SELECT pg_switch_wal()")
        except psycopg.OperationalError:
            stops += 1
        name = f"stopped {number}"
        busy.open.add(name)
        answer = busy.send(service.caller(), name)
        refusals.add((answer.status, answer.body["code"]))
        if stops >= 3:
            break
    assert stops >= 3
    assert refusals <= {(507, "storage_full"), (503, "unavailable")}, service.log.read_text()
    assert get_status(service.port, "/healthz") == 200
    disk.free()
    service.answers_again()
    busy.settle()
    service.proves_its_figures()


def get_error_line(done) -> str:
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("command", ["up", "rebuild_derived"])
def test_read_only_data_directory_is_reported_with_one_line(command):
    with create_machine() as machine:
        (machine.home / "var").mkdir()
        with make_read_only(machine.home / "var"):
            error_line = get_error_line(machine.run(command, PORT=find_free_port()))
    assert f"DATA_DIR: {machine.home}/var cannot be written" in error_line


def test_read_only_database_directory_is_reported_and_unharmed():
    with create_machine() as machine:
        with machine.embedded.run_while_used():
            pass
        with make_read_only(machine.embedded.path):
            for command in ("up", "rebuild_derived"):
                error_line = get_error_line(machine.run(command, PORT=find_free_port()))
                assert str(machine.embedded.path) in error_line
        with machine.embedded.run_while_used():
            assert machine.embedded.is_running()


@pytest.mark.parametrize("megabytes", [2, 20, 46])
def test_first_start_without_disk_space_is_reported_and_leaves_no_remains(megabytes):
    """Room for the secrets alone, for half a database, for a database without its tables."""
    with create_machine() as machine, mount_small_disk(machine.home / "var", megabytes=megabytes) as disk:
        error_line = get_error_line(machine.run("up", "--no-demo", PORT=find_free_port()))
        assert error_line.startswith("Error: ")
        # Where PostgreSQL stopped in the middle, its own log has the reason.
        assert (
            "No space left on device" in error_line
            or "wrote only" in error_line
            or f"{machine.embedded.path}/server.log" in error_line
        )
        assert list(disk.place.glob("postgres.new-*")) == []
        assert not machine.embedded.is_running()


def test_start_on_full_disk_is_reported_and_works_once_freed():
    with create_machine() as machine, mount_small_disk(machine.home / "var", megabytes=MEGABYTES) as disk:
        disk.fill()
        error_line = get_error_line(machine.run("up", "--no-demo", PORT=find_free_port()))
        assert "DATA_DIR" in error_line
        assert "No space left on device" in error_line
        assert [path.name for path in disk.place.iterdir()] == ["ballast"]
        disk.free()
        with machine.embedded.run_while_used():
            pass
        disk.fill()
        assert "No space left on device" in get_error_line(machine.run("up", "--no-demo", PORT=find_free_port()))
        disk.free()
        with machine.embedded.run_while_used():
            assert machine.embedded.is_running()

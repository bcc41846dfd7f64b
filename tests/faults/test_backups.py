"""The commands of docs/backups.md, as they stand there: what is restored is what was."""

import subprocess

import pytest

from tests.docs.markdown_page import parse_blocks
from tests.faults.activities import TokenExchanges
from tests.faults.service import Caller, Service
from tests.machine import ROOT, Machine, create_prepared_machine

pytestmark = pytest.mark.server

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
FORM = (
    b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n'
    + PDF
    + b"\r\n--x--\r\n"
)


def build_script(page: str) -> str:
    """All the commands of a page in one script, which ends at the first that fails."""
    blocks = parse_blocks(ROOT / "docs" / page)
    assert [block.language for block in blocks] == ["sh"] * 3
    return "set -eu\n" + "\n".join(block.text for block in blocks)


def count_rows_by_table(service: Service) -> dict[str, int]:
    tables = service.rows("SELECT format('%%I', tablename) FROM pg_tables WHERE schemaname = 'public'")
    counts = service.rows(" UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for (table,) in tables))
    return dict(counts)


def test_restored_backup_equals_the_original():
    with create_prepared_machine() as machine:
        service = Service(machine)
        service.start()
        service.use_company("Acme")
        caller, account = service.caller(), service.account("Main")
        row = {"accountId": account, "date": "2025-02-03", "amountValue": "12.34"}
        assert caller.ask("POST", service.path("transactions/import"), {"transactions": [row] * 500}).fine
        document = caller.ask("POST", service.path("files"), FORM, Content_Type="multipart/form-data; boundary=x")
        exchanges = TokenExchanges(service, codes=2)
        tokens = [exchanges.post(caller, exchanges.with_code(code)).body for code in exchanges.codes.values()]
        before = count_rows_by_table(service), service.cash(account)

        done = subprocess.run(
            ["bash", "-c", build_script("backups.md")], cwd=ROOT, env=machine.environment(PORT=service.port),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("All derived tables are correct.\n")
        assert (machine.home / "restored" / "api-key-pepper").stat().st_mode & 0o077 == 0
        service.stop()

        (machine.home / "elsewhere").mkdir()
        (machine.home / "elsewhere" / "var").symlink_to(machine.home / "restored")
        again = Service(Machine(home=machine.home / "elsewhere"), service.port, service.company, service.key)
        try:
            again.start()
            assert (count_rows_by_table(again), again.cash(account)) == before
            assert again.caller().ask("GET", again.path(f"files/{document.body['id']}/content")).body == PDF
            bearer = Caller(again.port, {"Authorization": f"Bearer {tokens[0]['access_token']}"})
            assert bearer.ask("GET", "/companies").body[0]["id"] == service.company
            assert exchanges.post(again.caller(), exchanges.with_token(tokens[1]["refresh_token"])).fine
        finally:
            again.stop()
            again.machine.embedded.stop()

"""docs/requests.md names every product file that a list request runs through."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("companies", "ledger", "planning", "analytics", "notifications", "oauth", "webhooks", "config")

pytestmark = pytest.mark.django_db


def trace_files(run: Any) -> set[str]:
    """Return the product files whose functions run, relative to the root."""
    files = set()

    def note_file(frame: FrameType, _event: str, _argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES:
            files.add(str(path.relative_to(ROOT)))

    sys.setprofile(note_file)
    try:
        run()
    finally:
        sys.setprofile(None)
    return files


@pytest.mark.parametrize(("resource", "most"), [("transactions", 15), ("members", 13)])
def test_list_request_runs_through_few_files(api, books, resource, most):
    bank = books.create_account(currency="EUR")
    books.create_transaction(bank, "-10.00", "2026-01-05")
    url = api.path(resource)
    assert len(api.get(url).json()) >= 1  # the first request loads modules and caches
    files = trace_files(lambda: api.get(url))
    assert "companies/api/viewsets.py" in files
    assert len(files) <= most, sorted(files)


@pytest.mark.parametrize("query", ["", "?startDate=2026-01-01&limit=1"])
def test_docs_name_every_file_of_a_list_request(api, books, query):
    account = books.create_account(currency="EUR")
    for amount in ("-10.00", "-20.00"):
        books.create_transaction(account, amount, "2026-01-05")
    url = api.path("transactions") + query
    api.get(url)
    page = (ROOT / "docs" / "requests.md").read_text()
    files = trace_files(lambda: api.get(url))
    assert [file for file in sorted(files) if f"`{file}`" not in page] == []

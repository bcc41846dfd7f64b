"""Every page below /app/companies/{id}, from the address space itself: who gets in, and who does not notice it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import get_resolver

from companies.permissions import Role, parse_permissions
from tests import factories

pytestmark = pytest.mark.django_db

UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"
COMPANY_PREFIX = "app/companies/<str:company_id>"
# Pages that look at their viewer themselves: everyone of the company may open them and sees what the role shows.
OWN_RULES = {
    "company", "company-with-slash", "chart-download", "api-keys", "api-key-new", "api-key-roll", "api-key-revoke",
    "app-disconnect", "leave", "own-access",
}  # fmt: skip


def list_company_pages(patterns: Any = None, prefix: str = "") -> Iterator[tuple[str, str, Any]]:
    """(name, address, view) of every page of a company."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        address = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from list_company_pages(pattern.url_patterns, address)
        elif address.startswith(COMPANY_PREFIX):
            yield pattern.name, address, pattern.callback


PAGES = [pytest.param(name, address, view, id=name) for name, address, view in list_company_pages()]
PERMISSION_PAGES = [
    pytest.param(address, method, needed, id=f"{name} {method}")
    for name, address, view in list_company_pages()
    for method, needed in getattr(view, "permission_for", {}).items()
    if needed and method != "HEAD"
]


def build_path(address: str, company_id: Any) -> str:
    return "/" + re.sub(r"<[^>]+>", UNKNOWN_ID, address.replace("<str:company_id>", str(company_id)))


def open_page(client: Any, address: str, company_id: Any, method: str = "GET") -> Any:
    return getattr(client, method.lower())(build_path(address, company_id))


@pytest.mark.parametrize(("name", "address", "view"), PAGES)
def test_every_page_declares_its_permission(name, address, view):
    assert hasattr(view, "permission_for") or name in OWN_RULES


@pytest.mark.parametrize(("name", "address", "view"), PAGES)
def test_page_of_other_company_looks_like_a_missing_page(browser_of, carol, globex, acme, name, address, view):
    browser = browser_of(carol, globex).client
    for method in ("GET", "POST"):
        there, nowhere = (open_page(browser, address, company, method) for company in (acme.id, UNKNOWN_ID))
        assert (there.status_code, nowhere.status_code) in ((404, 404), (405, 405))
        assert there.content == nowhere.content


@pytest.mark.parametrize(("name", "address", "view"), PAGES)
def test_pages_require_sign_in(client, acme, name, address, view):
    answers = [open_page(client, address, acme.id, method) for method in ("GET", "POST")]
    assert [answer.status_code for answer in answers] in ([302, 303], [302, 405], [405, 303]), "303 after a form"
    assert all(answer["Location"].startswith("/app/sign-in") for answer in answers if answer.status_code != 405)


@pytest.mark.parametrize(("address", "method", "needed"), PERMISSION_PAGES)
def test_page_requires_its_permission(browser_of, acme, address, method, needed):
    others = [p.value for p in Role.OWNER.permissions if p != needed]
    without = factories.make_member(acme, "without@acme.example", role=Role.ADMIN, permissions=others)
    assert open_page(browser_of(without, acme).client, address, acme.id, method).status_code == 403
    enough = parse_permissions(
        {needed.value, f"{needed.value.partition(':')[0]}:read"}
    )  # who sends a form sees the page again
    holder = factories.make_member(acme, "with@acme.example", role=Role.ADMIN, permissions=[p.value for p in enough])
    assert open_page(browser_of(holder, acme).client, address, acme.id, method).status_code not in (403, 405, 500)

"""Every page below /app/companies/{id}, from the address space itself: who gets in, and who does not notice it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.urls import get_resolver

from companies.permissions import Permission, Role, parse_permissions
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


PAGES = list(list_company_pages())
ADDRESSES_BY_PERMISSION: dict[Permission, list[tuple[str, str]]] = {}  # each with its method
OTHER_PERMISSIONS: dict[str, set[Permission]] = {}  # address of a page that needs several -> those besides its own
for _, page_address, page_view in PAGES:
    OTHER_PERMISSIONS[page_address] = {*getattr(page_view, "reads_also", ())}
    for page_method, needed_permission in getattr(page_view, "permission_for", {}).items():
        if needed_permission and page_method != "HEAD":
            ADDRESSES_BY_PERMISSION.setdefault(needed_permission, []).append((page_address, page_method))


def build_path(address: str, company_id: Any) -> str:
    return "/" + re.sub(r"<[^>]+>", UNKNOWN_ID, address.replace("<str:company_id>", str(company_id)))


def open_page(client: Any, address: str, company_id: Any, method: str = "GET") -> Any:
    return getattr(client, method.lower())(build_path(address, company_id))


def test_every_page_declares_its_permission():
    assert len(PAGES) > 150
    undeclared = {name for name, _, view in PAGES if not hasattr(view, "permission_for")}
    assert undeclared - OWN_RULES == set()


def test_page_of_other_company_looks_like_a_missing_page(sign_in_browser, carol, globex, acme):
    browser = sign_in_browser(carol, globex).client
    different = []
    for _, address, _ in PAGES:
        for method in ("GET", "POST"):
            there, nowhere = (open_page(browser, address, company, method) for company in (acme.id, UNKNOWN_ID))
            statuses = (there.status_code, nowhere.status_code)
            if statuses not in ((404, 404), (405, 405)) or there.content != nowhere.content:
                different.append((address, method, statuses))
    assert different == []


def test_pages_require_sign_in(client, acme):
    wrong = []
    for _, address, _ in PAGES:
        answers = [open_page(client, address, acme.id, method) for method in ("GET", "POST")]
        statuses = [answer.status_code for answer in answers]
        redirected = all(
            answer["Location"].startswith("/app/sign-in") for answer in answers if answer.status_code != 405
        )
        if statuses not in ([302, 303], [302, 405], [405, 303]) or not redirected:  # 303 after a form
            wrong.append((address, statuses))
    assert wrong == []


@pytest.mark.parametrize("needed", ADDRESSES_BY_PERMISSION, ids=lambda permission: permission.value)
def test_page_requires_its_permission(sign_in_browser, acme, needed):
    others = [p.value for p in Role.OWNER.permissions if p != needed]
    without = factories.make_member(acme, "without@acme.example", role=Role.ADMIN, permissions=others)
    enough = parse_permissions(
        {needed.value, f"{needed.value.partition(':')[0]}:read"}
    )  # who sends a form sees the page again
    holder = factories.make_member(acme, "with@acme.example", role=Role.ADMIN, permissions=[p.value for p in enough])
    holders = {frozenset(): holder}
    for address, method in ADDRESSES_BY_PERMISSION[needed]:
        holder = holders.get(others_needed := frozenset(OTHER_PERMISSIONS[address])) or factories.make_member(
            acme,
            f"with{len(holders)}@acme.example",
            role=Role.ADMIN,
            permissions=[p.value for p in enough | others_needed],
        )
        holders[others_needed] = holder
        with transaction.atomic():
            refused = open_page(sign_in_browser(without, acme).client, address, acme.id, method)
            taken = open_page(sign_in_browser(holder, acme).client, address, acme.id, method)
            transaction.set_rollback(True)  # a form may have deleted or archived something
        assert refused.status_code == 403, (address, method)
        assert taken.status_code not in (403, 405, 500), (address, method)


def test_page_of_several_permissions_requires_each(sign_in_browser, acme):
    several = {address: view.permission_for["GET"] for _, address, view in PAGES if OTHER_PERMISSIONS[address]}
    assert several
    for number, (address, own) in enumerate(several.items()):
        for missing in {own, *OTHER_PERMISSIONS[address]}:
            permissions = [p.value for p in Role.OWNER.permissions if p != missing]
            email = f"{missing.value.replace(':', '-')}{number}@acme.example"
            member = factories.make_member(acme, email, role=Role.ADMIN, permissions=permissions)
            assert open_page(sign_in_browser(member, acme).client, address, acme.id).status_code == 403, (
                address,
                missing,
            )

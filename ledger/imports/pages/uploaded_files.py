"""Uploaded files of a page: whose they are, and which of them wait for an answer on how to read them.

A file waits while the others of its upload are imported. Which ones do is kept in the session, until they are
imported or their upload expires.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from companies.models import parse_id
from companies.pages.context import CompanyPage
from ledger.imports.actions import uploads

SESSION_KEY = "waiting_files"  # company → [[upload, name, account], …]


class WaitingFile(NamedTuple):
    """A file that waits, as text; `account_id` is empty if none was chosen."""

    upload_id: str
    name: str
    account_id: str

    def build_url(self, page: CompanyPage) -> str:
        """Return the address of the page that asks how to read it."""
        query = {"account": self.account_id, "name": self.name}
        return f"{reverse('import-check', args=[page.company.id, self.upload_id])}?{urlencode(query)}"


def get_upload_owner(page: CompanyPage) -> dict[str, Any]:
    """Return whose uploads a page may find."""
    return {"company_id": page.company.id, "user_id": page.request.user.pk}


def add_waiting_files(page: CompanyPage, files: Iterable[WaitingFile]) -> None:
    """Let files wait, after those that wait already."""
    stored = page.request.session.get(SESSION_KEY, {})
    rows = [*list_waiting_files(page), *files]
    page.request.session[SESSION_KEY] = stored | {str(page.company.id): [list(row) for row in dict.fromkeys(rows)]}


def list_waiting_files(page: CompanyPage) -> list[WaitingFile]:
    """Return the files of the session that wait, without imported and expired ones."""
    rows = page.request.session.get(SESSION_KEY, {}).get(str(page.company.id), [])
    files = [WaitingFile(*row) for row in rows]
    return [file for file in files if is_page_upload_stored(page, file.upload_id)]


def is_page_upload_stored(page: CompanyPage, upload_id: str) -> bool:
    parsed_id = parse_id(upload_id)
    return parsed_id is not None and uploads.is_upload_stored(**get_upload_owner(page), upload_id=parsed_id)


def redirect_to_next_file(page: CompanyPage) -> HttpResponse:
    """Go to the page of the next file that waits; to the list of imports if none does."""
    files = list_waiting_files(page)
    if not files:
        return page.redirect("imports")
    messages.info(page.request, _("Choose how to read “{name}”.").format(name=files[0].name))
    return redirect(files[0].build_url(page))

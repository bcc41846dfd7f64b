"""One mailed link, and two who use it at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from companies.actions import members
from companies.pages.user.forms import FirstPasswordForm
from tests.companies.pages.test_user_pages import submit_form

pytestmark = pytest.mark.django_db(transaction=True)


def test_password_reset_link_used_concurrently_sets_one_password(alice, monkeypatch):
    together, look = Barrier(2), FirstPasswordForm.is_valid

    def is_valid(form):
        """Both have looked at the link, and neither has stored anything."""
        good = look(form)
        together.wait(30)
        return good

    monkeypatch.setattr(FirstPasswordForm, "is_valid", is_valid)
    link = members.build_password_link(alice).removeprefix(settings.APP_URL)

    def set_password(word):
        form = dict.fromkeys(("new_password1", "new_password2"), word)
        try:
            visitor = Client()
            return submit_form(visitor, visitor.get(f"/app{link}")["Location"], form)
        finally:
            connection.close()

    words = ["staple battery 9", "correct horse 7"]
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(set_password, words))
    assert sorted(each.status_code for each in answers) == [200, 303]
    stored = next(word for word, answer in zip(words, answers, strict=True) if answer.status_code == 303)
    assert "Link no longer valid" in next(each for each in answers if each.status_code == 200).content.decode()
    alice.refresh_from_db()
    assert alice.check_password(stored)

"""Words that a password here is guessed by first: the service's own, and those of the person's companies."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from companies.models import Membership, User

PRODUCT = ("tidebook", "password", "passwort", "welcome", "financial", "planning", "finance", "company", "admin")
SHORTEST = 4  # letters of a word; shorter ones are in every sentence
LEFT = 8  # characters that must be left of a password without such words


class NotOurWords:
    """Refuses a password of which too little is left without the words; one may stand among others."""

    def validate(self, password: str, user: Any = None) -> None:
        left = password.lower()
        for word in sorted(words(user), key=len, reverse=True):
            left = left.replace(word, "")
        if len(left) < LEFT:
            raise ValidationError(self.get_help_text())

    def get_help_text(self) -> str:
        return _("Your password is made of words that are guessed first: of this service, or of your company's name.")


def words(user: Any) -> set[str]:
    """In lower case: ``PRODUCT``, the words of the service's addresses, and those of the person's companies."""
    return {*PRODUCT, *of_addresses(), *of_companies(user)}


def of_addresses() -> Iterator[str]:
    for address in (settings.BASE_URL, settings.APP_URL):
        yield from long_words(urlsplit(address).hostname or "")


def of_companies(user: Any) -> Iterator[str]:
    memberships = Membership.objects.of_person(user.id) if isinstance(user, User) else Membership.objects.none()
    for membership in memberships.select_related("company"):
        yield from long_words(membership.company.name)


def long_words(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W_]+", text.lower()) if len(word) >= SHORTEST]

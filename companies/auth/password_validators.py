"""Password validators: reject too many or repeated characters, and the product's name or the user's company names."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from companies.locales import get_current_locale
from companies.models import Membership, User

PRODUCT_WORDS = ("tidebook", "password", "passwort", "welcome", "financial", "planning", "finance", "company", "admin")
MIN_WORD_LENGTH = 4  # letters; shorter words are too common
MIN_REMAINING_LENGTH = 8  # characters
MIN_DIFFERENT_CHARACTERS = 5
MAX_PASSWORD_LENGTH = 1000  # also of the sign-in form


class MaximumLengthValidator:
    """Rejects a password that the sign-in form would not take."""

    def validate(self, password: str, user: Any = None) -> None:
        if len(password) > MAX_PASSWORD_LENGTH:
            raise ValidationError(self.get_help_text())

    def get_help_text(self) -> str:
        return _("Use at most {most} characters.").format(most=get_current_locale().format_number(MAX_PASSWORD_LENGTH))


class RepeatedCharactersValidator:
    """Rejects a password of few different characters."""

    def validate(self, password: str, user: Any = None) -> None:
        if len(set(password.lower())) < MIN_DIFFERENT_CHARACTERS:
            raise ValidationError(self.get_help_text())

    def get_help_text(self) -> str:
        return _("This password is too easy to guess. Use more different characters.")


class GuessableWordsValidator:
    """Rejects a password with too few characters left once guessable words are removed; one such word among
    others is fine.
    """

    def validate(self, password: str, user: Any = None) -> None:
        remaining = password.lower()
        for word in sorted(collect_guessable_words(user), key=len, reverse=True):
            remaining = remaining.replace(word, "")
        if len(remaining) < MIN_REMAINING_LENGTH:
            raise ValidationError(self.get_help_text())

    def get_help_text(self) -> str:
        return _("This password is too easy to guess. Do not use the name of Tidebook or your company.")


def collect_guessable_words(user: Any) -> set[str]:
    """Return guessable words in lower case: PRODUCT_WORDS, words of our host names and of the user's companies."""
    return {*PRODUCT_WORDS, *list_address_words(), *list_company_words(user)}


def list_address_words() -> Iterator[str]:
    """Yield the words of our host names."""
    for address in (settings.BASE_URL, settings.APP_URL):
        yield from extract_long_words(urlsplit(address).hostname or "")


def list_company_words(user: Any) -> Iterator[str]:
    """Yield the words of the names of the user's companies."""
    memberships = Membership.objects.for_user(user.id) if isinstance(user, User) else Membership.objects.none()
    for membership in memberships.select_related("company"):
        yield from extract_long_words(membership.company.name)


def extract_long_words(text: str) -> list[str]:
    """Return the words of a text with at least MIN_WORD_LENGTH letters, in lower case."""
    return [word for word in re.findall(r"[^\W_]+", text.lower()) if len(word) >= MIN_WORD_LENGTH]

"""What an app can ask for, in the words of the protocol and in plain ones."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext_lazy as _
from oauth2_provider.scopes import BaseScopes

READ, WRITE = "svc:read", "svc:write"
OPENID, PROFILE, EMAIL, OFFLINE = "openid", "profile", "email", "offline_access"

# In the order in which they are listed; the sentence follows "will be able to".
SENTENCES = {
    READ: _("see the company's accounts, transactions, plans and figures"),
    WRITE: _("add and change the company's data, as far as you may yourself"),
    OPENID: _("know that it is you, by a number that stands for you"),
    PROFILE: _("see your name"),
    EMAIL: _("see your e-mail address"),
    OFFLINE: _("stay connected while you are away, until you disconnect it"),
}
ALL = tuple(SENTENCES)


def in_order(scopes: Iterable[str]) -> list[str]:
    """The known scopes among these, each once, in the order of the catalogue."""
    held = set(scopes)
    return [scope for scope in ALL if scope in held]


def reaches_data(scopes: Iterable[str]) -> bool:
    """Whether the scopes are about the company's data, and not only about who the user is."""
    return not {READ, WRITE}.isdisjoint(scopes)


class Scopes(BaseScopes):
    """For the toolkit: an app may ask for what staff allowed it, and has to ask for something."""

    def get_all_scopes(self) -> dict[str, str]:
        return {name: str(sentence) for name, sentence in SENTENCES.items()}

    def get_available_scopes(
        self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        return list(application.allowed_scopes if application else ALL)

    def get_default_scopes(self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any) -> list[str]:
        return []

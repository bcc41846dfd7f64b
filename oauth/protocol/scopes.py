"""OAuth scopes, with the sentences that the consent page shows."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext_lazy as _
from oauth2_provider.scopes import BaseScopes

READ, WRITE = "svc:read", "svc:write"
OPENID, PROFILE, EMAIL, OFFLINE = "openid", "profile", "email", "offline_access"

# In the order of display; the sentence follows "will be able to".
SCOPE_SENTENCES = {
    READ: _("view the company's accounts, transactions, plans and figures"),
    WRITE: _("create and edit the company's data, within your own permissions"),
    OPENID: _("identify you by an ID"),
    PROFILE: _("view your name"),
    EMAIL: _("view your email address"),
    OFFLINE: _("keep access while you are away, until you disconnect it"),
}
ALL_SCOPES = tuple(SCOPE_SENTENCES)


def sort_scopes(scopes: Iterable[str]) -> list[str]:
    """Return the known scopes, each once, in the order of the catalogue."""
    requested_scopes = set(scopes)
    return [scope for scope in ALL_SCOPES if scope in requested_scopes]


def has_data_scopes(scopes: Iterable[str]) -> bool:
    """Return whether scopes allow access to company data, not only to the user's identity."""
    return not {READ, WRITE}.isdisjoint(scopes)


class ScopesBackend(BaseScopes):
    """Scopes backend of the toolkit: an app may request what staff allowed it, and has no default scopes."""

    def get_all_scopes(self) -> dict[str, str]:
        return {name: str(sentence) for name, sentence in SCOPE_SENTENCES.items()}

    def get_available_scopes(
        self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        return list(application.allowed_scopes if application else ALL_SCOPES)

    def get_default_scopes(self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any) -> list[str]:
        return []

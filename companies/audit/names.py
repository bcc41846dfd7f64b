"""Names of the actors and records of audit entries, as far as the user may see them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from companies.hooks import AUDITED_MODELS
from companies.models import ApiKey, AuditEntry, User, parse_id
from companies.pages.context import CompanyPage
from companies.permissions import Permission

API_KEY_ACTOR_PREFIX = "apiKey:"
USER_COLUMN = "assigned_user_id"
REFERENCES = {  # column → kind of the record whose id it holds
    "account_group_id": "accountGroup",
    "account_id": "account",
    "account_ids": "account",
    "category_id": "category",
    "counterparty_id": "counterparty",
    "customer_id": "counterparty",
    "default_category_id": "category",
    "given_counterparty_id": "counterparty",
    "planned_id": "plannedTransaction",
    "product_group_id": "productGroup",
    "product_id": "product",
    "replaced_with": "category",
    "split_category_id": "category",
    "transaction_id": "transaction",
    "transaction_ids": "transaction",
    "transfer_account_id": "account",
}
RecordKey = tuple[str, str]  # kind and id


@dataclass(frozen=True, slots=True)
class AuditNames:
    """The names behind the ids in audit entries: actors by id, and existing records that the user may see."""

    page: CompanyPage
    actors: Mapping[str, str]
    records: Mapping[RecordKey, Any]

    def get_actor_name(self, actor: str | None) -> str:
        return self.actors.get(actor or "", _("System"))

    def get_record_name(self, kind: str, record_id: str) -> str:
        """Return the name of a record; "" if there is none."""
        record = self.records.get((kind, record_id))
        return (getattr(record, "display_name", None) or str(record)) if record else ""

    def get_currency(self, kind: str, record_id: str) -> str | None:
        """Return the currency of a record; None if it is unknown."""
        record = self.records.get((kind, record_id))
        currency: str | None = getattr(record, "amount_currency", None) or getattr(record, "currency", None)
        return currency

    def format_reference(self, column: str, record_id: str) -> str:
        """Return the name of the record whose id a column holds; "" without one that the user may see."""
        if column == USER_COLUMN:
            return self.actors.get(record_id, "")
        if column not in REFERENCES or is_entity_hidden(self.page, REFERENCES[column]):
            return ""
        return self.get_record_name(REFERENCES[column], record_id) or _("Deleted")


def load_audit_names(page: CompanyPage, rows: Iterable[AuditEntry]) -> AuditNames:
    """Load the names of the actors of entries, and of the records they are about or refer to; one query per kind."""
    actors = {row.actor for row in rows if row.actor}
    keys = {(row.entity_type, row.entity_id) for row in rows}
    for column, record_id in (each for row in rows for side in (row.before, row.after) for each in list_ids(side)):
        if column == USER_COLUMN:
            actors.add(record_id)
        elif column in REFERENCES:
            keys.add((REFERENCES[column], record_id))
    return AuditNames(page, find_actor_names(page, actors), find_records(page, keys))


def list_ids(value: Any, column: str = "") -> Iterator[tuple[str, str]]:
    """Yield the columns and ids in a stored value, at any depth."""
    match value:
        case str() if parse_id(value):
            yield column, value
        case list():
            for item in value:
                yield from list_ids(item, column)
        case dict():
            for name, item in value.items():
                yield from list_ids(item, name)


def find_records(page: CompanyPage, keys: Iterable[RecordKey]) -> dict[RecordKey, Any]:
    """Return the records that still exist and the user may see; one query per kind."""
    ids_by_kind: dict[str, set[str]] = {}
    for kind, record_id in keys:
        if kind in AUDITED_MODELS and not is_entity_hidden(page, kind) and parse_id(record_id):
            ids_by_kind.setdefault(kind, set()).add(record_id)
    records: dict[RecordKey, Any] = {}
    for kind, ids in ids_by_kind.items():
        model: Any = AUDITED_MODELS[kind].model
        rows = model.objects.for_company(page.company.id).filter(id__in=ids)
        records |= {(kind, str(row.id)): row for row in (rows.with_users() if kind == "member" else rows)}
    return records


def is_entity_hidden(page: CompanyPage, kind: str) -> bool:
    """Return whether the user may not see records of this kind, nor the values of a deleted one."""
    audited = AUDITED_MODELS.get(kind)
    return audited is not None and not page.has_permission(audited.permission)


def find_actor_names(page: CompanyPage, actors: Iterable[str]) -> dict[str, str]:
    """Return the names of actors, in two queries for those that the page has not named yet.

    Unknown ones get a placeholder. Keys and other users are named only to those who manage them, as in the API.
    """
    actors = set(actors)
    if new_actors := actors - page.actor_names.keys():
        page.actor_names |= load_actor_names(page, new_actors)
    return {actor: page.actor_names[actor] for actor in actors}


def load_actor_names(page: CompanyPage, actors: Iterable[str]) -> dict[str, str]:
    """Load the names of actors; see ``find_actor_names``."""
    keys = {actor for actor in actors if actor.startswith(API_KEY_ACTOR_PREFIX)}
    user_ids = {actor for actor in actors if not actor.startswith(API_KEY_ACTOR_PREFIX)}
    names_by_actor = dict.fromkeys(keys, _("a deleted API key")) | dict.fromkeys(user_ids, _("a former member"))
    if page.has_permission(Permission.API_KEYS_MANAGE):
        rows = ApiKey.objects.for_company(page.company.id).filter(
            id__in=[key.removeprefix(API_KEY_ACTOR_PREFIX) for key in keys]
        )
        names_by_actor |= {f"{API_KEY_ACTOR_PREFIX}{key.id}": format_key_name(key) for key in rows}
    else:
        names_by_actor |= dict.fromkeys(keys, _("an API key"))
    if not page.has_permission(Permission.MEMBERS_MANAGE):
        names_by_actor |= dict.fromkeys(user_ids, _("another person"))
        user_ids &= {str(page.audit_context.user_id)}
    return names_by_actor | {str(user.pk): user.display_name for user in User.objects.filter(pk__in=user_ids)}


def format_key_name(key: ApiKey) -> str:
    """Format the name of a key."""
    return _("API key “{name}”").format(name=key.name)

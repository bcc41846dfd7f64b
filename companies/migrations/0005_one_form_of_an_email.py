"""Addresses are compared by one canonical form, in a column of its own.

PostgreSQL compared them by UPPER, which takes ı for I and ſ for S, and kept them apart by LOWER, which does not. Where
two people have one form, or an address has none, the migration stops and leaves everything as it was: whose address it
is, no program can tell.
"""

from collections import defaultdict
from typing import Any

from django.core.management.base import CommandError
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Collate, Lower

import companies.email_addresses
import companies.models.users


def fill(apps: Any, schema_editor: Any) -> None:
    """Raises CommandError, with the ids, before it writes anything."""
    users = apps.get_model("companies", "User").objects.using(schema_editor.connection.alias)
    forms: dict[str, list[Any]] = defaultdict(list)
    for user in users.only("email").order_by("id"):
        forms[form_of(user.email)].append(user.pk)
    wrong = [f"no form: {', '.join(map(str, forms.pop('', [])))}"] if "" in forms else []
    wrong += [f"one form: {', '.join(map(str, ids))}" for ids in forms.values() if len(ids) > 1]
    if wrong:
        raise CommandError(
            "The e-mail addresses of some users have no canonical form, or share one. Change or delete them, then "
            f"migrate again; nothing was changed. Rows of companies_user with {'; with '.join(wrong)}"
        )
    for form, (user_id,) in forms.items():
        users.filter(pk=user_id).update(canonical_email=form)


def form_of(email: str) -> str:
    try:
        return companies.email_addresses.to_canonical_email(email)
    except companies.email_addresses.InvalidEmail:
        return ""


class Migration(migrations.Migration):
    dependencies = [("companies", "0004_audit_entry_written_in")]

    operations = [
        migrations.AddField(
            "user",
            "canonical_email",
            companies.models.users.CanonicalEmail(max_length=254, editable=False, null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AlterField(
            "user", "canonical_email", companies.models.users.CanonicalEmail(max_length=254, editable=False)
        ),
        migrations.AlterField(
            "user",
            "email",
            models.EmailField(max_length=254, unique=True, validators=[companies.email_addresses.validate_email_address]),
        ),
        migrations.RemoveConstraint("user", "user_email_unique_in_any_case"),
        migrations.AddConstraint(
            "user", models.UniqueConstraint(fields=["canonical_email"], name="user_email_unique_in_any_spelling")
        ),
        migrations.AddConstraint(
            "user",
            models.CheckConstraint(
                condition=Q(email__regex=r"[^\x01-\x7f]") | Q(canonical_email=Lower(Collate("email", "C"))),
                name="user_canonical_email_follows",
            ),
        ),
    ]

"""A live refresh token gets the access token's row that the toolkit looks for beside it, and its consent as its family."""

import hashlib
from datetime import timedelta

from django.db import migrations
from django.db.models import F

AT_ONCE = 1000


def fill(apps, editor):
    refresh_tokens = apps.get_model("oauth", "RefreshToken").objects
    access_tokens = apps.get_model("oauth", "AccessToken").objects
    refresh_tokens.update(token_family=F("consent_id"))
    live = refresh_tokens.filter(revoked=None, access_token=None).order_by("id")
    while rows := list(live[:AT_ONCE]):
        made = access_tokens.bulk_create(
            access_tokens.model(
                token="",
                # Of no token: the one that came with it is checked by its signature, and was never stored.
                token_checksum=hashlib.sha256(f"refresh token {row.pk}".encode()).hexdigest(),
                user_id=row.user_id,
                application_id=row.application_id,
                consent_id=row.consent_id,
                scope=row.scope,
                resource=[],
                expires=row.created + timedelta(hours=1),
            )
            for row in rows
        )
        for row, access_token in zip(rows, made, strict=True):
            row.access_token_id = access_token.pk
        refresh_tokens.bulk_update(rows, ["access_token"])


class Migration(migrations.Migration):
    dependencies = [("oauth", "0004_the_toolkits_own_columns")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]

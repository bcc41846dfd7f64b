"""The OAuth toolkit with its default setup as a project of its own, to compare our token endpoint with.

Its settings are those its documentation recommends: hashed storage, rotation, reuse protection, PKCE. It
has a database of its own beside ours.
"""

import os
import sys

from django.conf import settings
from django.utils.functional import empty

SECRET_KEY = "only-for-the-bench-0123456789-abcdefghijklmnopqrstuvwxyz"


def configure_django() -> None:
    settings._wrapped = empty  # gunicorn's settings, which are ours, have been read in this process already
    settings.configure(
        SECRET_KEY=SECRET_KEY,
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"],
        MIDDLEWARE=["django.middleware.common.CommonMiddleware"],  # all else that ours has counts against us
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": "stock",
                "USER": "postgres",
                "HOST": os.environ["STOCK_HOST"],
                "CONN_MAX_AGE": None,
                "CONN_HEALTH_CHECKS": True,
            }
        },
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
        LOGGING_CONFIG=None,
        OAUTH2_PROVIDER={
            "SCOPES": {"svc:read": "read", "offline_access": "stay"},
            "DEFAULT_SCOPES": [],
            "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
            "REFRESH_TOKEN_EXPIRE_SECONDS": 60 * 24 * 3600,
            "ROTATE_REFRESH_TOKEN": True,
            "REFRESH_TOKEN_REUSE_PROTECTION": True,
            "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
            "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
        },
    )
    import django

    django.setup()


def prepare_tokens(count: int, codes: int, challenge: str) -> None:
    """Migrates, and prints the client's id and so many refresh tokens, one a line; makes so many codes."""
    from datetime import timedelta

    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.utils import timezone
    from oauth2_provider.models import (
        get_access_token_model,
        get_application_model,
        get_grant_model,
        get_refresh_token_model,
        set_token_value,
    )

    call_command("migrate", verbosity=0)
    user = get_user_model().objects.create(username="bench")
    application = get_application_model().objects.create(
        client_type="public", authorization_grant_type="authorization-code", redirect_uris="https://a.example/cb"
    )
    lines = [application.client_id]
    for number in range(count):
        access = get_access_token_model()(
            user=user, application=application, scope="svc:read offline_access",
            expires=timezone.now() + timedelta(hours=1),
        )  # fmt: skip
        set_token_value(access, f"access{number}")
        access.save()
        refresh = get_refresh_token_model()(user=user, application=application, access_token=access)
        set_token_value(refresh, f"refresh{number}")
        refresh.save()
        lines.append(f"refresh{number}")
    get_grant_model().objects.bulk_create(
        get_grant_model()(
            user=user, application=application, scope="svc:read offline_access", redirect_uri="https://a.example/cb",
            code=f"code{number}", code_challenge=challenge, code_challenge_method="S256",
            expires=timezone.now() + timedelta(hours=1),
        )
        for number in range(codes)
    )  # fmt: skip
    sys.stdout.write("\n".join(lines))


configure_django()

from django.urls import path  # noqa: E402
from oauth2_provider import views  # noqa: E402

urlpatterns = [path("token", views.TokenView.as_view())]

if __name__ == "__main__":
    prepare_tokens(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
else:
    from django.core.wsgi import get_wsgi_application

    application = get_wsgi_application()

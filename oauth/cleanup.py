"""Deletion of expired codes and tokens."""

from datetime import datetime, timedelta

from django.db.models import Q

from oauth.models import MAX_REFRESH_IDLE_TIME, AccessToken, AuthorizationCode, IDToken, RefreshToken

REPLAY_DETECTION_PERIOD = timedelta(days=30)  # how long after its expiry a replayed code is still detected


def prune_oauth_tokens(*, now: datetime) -> int:
    """Delete expired codes and tokens, and return their number.

    A used refresh token is kept as long as an unused one, since its second use must revoke the consent.
    """
    is_old = Q(created__lt=now - MAX_REFRESH_IDLE_TIME - REPLAY_DETECTION_PERIOD)
    referenced_tokens = RefreshToken.objects.filter(
        revoked=None, access_token__isnull=False
    )  # referenced by the toolkit
    rows = (
        AuthorizationCode.objects.filter(expires__lt=now - REPLAY_DETECTION_PERIOD),
        RefreshToken.objects.filter(is_old),
        AccessToken.objects.filter(expires__lt=now).exclude(id__in=referenced_tokens.values("access_token_id")),
        IDToken.objects.filter(expires__lt=now, access_token=None),
    )
    return sum(each.delete()[0] for each in rows)

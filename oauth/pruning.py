"""What can be forgotten: codes and refresh tokens that nobody can use, or replay to any effect, any more."""

from datetime import datetime, timedelta

from django.db.models import Q

from oauth.models import REFRESH_IDLE, AccessToken, AuthorizationCode, IDToken, RefreshToken

KEPT = timedelta(days=30)  # after its end a code is still recognised as replayed for this long


def prune(*, now: datetime) -> int:
    """Deletes them and returns how many there were. A refresh token that was used is kept as long as one that was not:
    its second use must still end the consent."""
    old = Q(created__lt=now - REFRESH_IDLE - KEPT)
    waiting = RefreshToken.objects.filter(revoked=None, access_token__isnull=False)  # the toolkit looks for theirs
    rows = (
        AuthorizationCode.objects.filter(expires__lt=now - KEPT),
        RefreshToken.objects.filter(old),
        AccessToken.objects.filter(expires__lt=now).exclude(id__in=waiting.values("access_token_id")),
        IDToken.objects.filter(expires__lt=now, access_token=None),
    )
    return sum(each.delete()[0] for each in rows)

"""What can be forgotten: codes and refresh tokens that nobody can use, or replay to any effect, any more."""

from datetime import datetime, timedelta

from django.db.models import Q

from oauth.models import CODE_LIVES, REFRESH_IDLE, AuthorizationCode, RefreshToken

KEPT = timedelta(days=30)  # after its end a code is still recognised as replayed for this long


def prune(*, now: datetime) -> int:
    """Deletes them and returns how many there were. A refresh token that was used is kept as long as one that was not:
    its second use must still end the consent."""
    old = Q(created__lt=now - REFRESH_IDLE - KEPT)
    codes, _ = AuthorizationCode.objects.filter(expires__lt=now - CODE_LIVES - KEPT).delete()
    tokens, _ = RefreshToken.objects.filter(old).delete()
    return codes + tokens

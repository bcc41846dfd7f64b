"""Disconnect an app."""

from companies.models import AuditContext
from oauth.consents import revoke_consents
from oauth.models import ConsentGrant, RevokedReason


def disconnect_app(consent: ConsentGrant, *, context: AuditContext) -> None:
    """Revoke all consents that a user gave an app in a company."""
    connection = {
        "company_id": consent.company_id,
        "user_id": consent.user_id,
        "application_id": consent.application_id,
    }
    revoke_consents(ConsentGrant.objects.filter(**connection), reason=RevokedReason.USER, context=context)

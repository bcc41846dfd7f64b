"""Consents that were only hidden, because their user had left the company or was switched off, end for good."""

from django.db import migrations
from django.db.models import Exists, OuterRef
from django.utils import timezone


def end(apps, editor):
    consents = apps.get_model("oauth", "ConsentGrant").objects.filter(revoked_time=None)
    memberships = apps.get_model("companies", "Membership").objects.filter(
        company=OuterRef("company"), user=OuterRef("user")
    )
    now = timezone.now()
    consents.filter(user__is_active=False).update(revoked_time=now, revoked_reason="userDeactivated")
    consents.filter(~Exists(memberships)).update(revoked_time=now, revoked_reason="membershipEnded")


class Migration(migrations.Migration):
    dependencies = [("oauth", "0002_consent_ends_for_good"), ("companies", "0001_initial")]
    operations = [migrations.RunPython(end, migrations.RunPython.noop)]

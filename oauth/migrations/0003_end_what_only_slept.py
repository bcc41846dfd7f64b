"""Consents that were only hidden, because their user had left the company or was switched off, end for good."""

from django.db import migrations
from django.utils import timezone


def end(apps, editor):
    consents = apps.get_model("oauth", "ConsentGrant").objects.filter(revoked_time=None)
    now = timezone.now()
    consents.filter(user__is_active=False).update(revoked_time=now, revoked_reason="userDeactivated")
    # Not by a join: on a cluster consents lie on another machine than memberships.
    allowed = set(consents.values_list("company_id", "user_id"))
    members = apps.get_model("companies", "Membership").objects.filter(user__in={user for _, user in allowed})
    for company, user in allowed - set(members.values_list("company_id", "user_id")):
        left = consents.filter(company_id=company, user_id=user)
        left.update(revoked_time=now, revoked_reason="membershipEnded")


class Migration(migrations.Migration):
    dependencies = [("oauth", "0002_consent_ends_for_good"), ("companies", "0001_initial")]
    operations = [migrations.RunPython(end, migrations.RunPython.noop)]

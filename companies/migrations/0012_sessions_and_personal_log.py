"""A session says whose it is, and people have a log. Sessions from before do not say it: everybody signs in anew.

Staff find an entry of a company's log by its request.
"""

import companies.models.tenancy
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0011_invitations'),
        ('sessions', '0001_initial'),
    ]

    operations = [
        migrations.RunSQL("DELETE FROM django_session", migrations.RunSQL.noop),
        # Where companies are distributed, the new tables refer to one that is copied (docs/scaling.md).
        migrations.RunSQL(
            "SET LOCAL citus.enable_local_reference_table_foreign_keys TO on", migrations.RunSQL.noop
        ),
        migrations.CreateModel(
            name='PersonalEntry',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('time', models.DateTimeField()),
                ('event', models.CharField(choices=[('signedIn', 'Signed in'), ('signInFailed', 'Sign-in failed'), ('passwordChanged', 'Password changed'), ('factorChanged', 'Second factor changed'), ('apiKeyCreated', 'API key created'), ('sessionsEnded', 'Other sessions ended')], max_length=20)),
                ('detail', models.CharField(blank=True, max_length=300)),
                ('device', models.CharField(blank=True, max_length=60)),
                ('address', models.CharField(blank=True, max_length=45)),
                ('browser', models.CharField(blank=True, max_length=64)),
                ('request_id', models.CharField(blank=True, max_length=64)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'personal entries',
                'indexes': [models.Index(fields=['user', 'time', 'id'], name='personal_entry_by_time')],
                'constraints': [models.CheckConstraint(condition=models.Q(('event__in', ['signedIn', 'signInFailed', 'passwordChanged', 'factorChanged', 'apiKeyCreated', 'sessionsEnded'])), name='personal_event_known')],
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('device', models.CharField(blank=True, max_length=60)),
                ('address', models.CharField(blank=True, max_length=45)),
                ('started_time', models.DateTimeField(null=True)),
                ('auth_time', models.DateTimeField(null=True)),
                ('seen_time', models.DateTimeField(null=True)),
                ('user', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'seen_time'], name='session_by_user')],
            },
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['request_id'], name='audit_entry_by_request'),
        ),
    ]

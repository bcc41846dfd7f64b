import companies.models.tenancy
import django.core.serializers.json
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('companies', '0001_squashed_0003_audit_log_table'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('type', models.CharField(choices=[('import.finished', 'Import Finished'), ('import.undone', 'Import Undone'), ('app.connected', 'App Connected'), ('app.revoked', 'App Revoked'), ('apiKey.created', 'Api Key Created'), ('apiKey.creatorLeft', 'Api Key Creator Left'), ('balance.mismatch', 'Balance Mismatch'), ('cash.belowZero', 'Cash Below Zero'), ('closing.reopened', 'Closing Reopened'), ('member.joined', 'Member Joined'), ('sandbox.expiring', 'Sandbox Expiring'), ('webhookEndpoint.disabled', 'Webhook Disabled')], max_length=40)),
                ('recipient', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('read_time', models.DateTimeField(null=True)),
                ('payload', models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder)),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'recipient', 'id'], name='notification_by_recipient'), models.Index(condition=models.Q(('read_time', None)), fields=['company', 'recipient'], name='notification_unread')],
                'constraints': [models.CheckConstraint(condition=models.Q(('type__in', ['import.finished', 'import.undone', 'app.connected', 'app.revoked', 'apiKey.created', 'apiKey.creatorLeft', 'balance.mismatch', 'cash.belowZero', 'closing.reopened', 'member.joined', 'sandbox.expiring', 'webhookEndpoint.disabled'])), name='notification_type_known')],
            },
        ),
        companies.models.tenancy.CompanyKeys([
            'Notification',
        ]),
    ]

"""Second factors of everybody. Staff who had an authenticator app keep it; their codes on paper, which were kept in
clear, are gone: they make new ones."""

import companies.models.tenancy
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0012_sessions_and_personal_log'),
        ('otp_totp', '0003_add_timestamps'),
    ]

    operations = [
        migrations.AddField(
            model_name='company',
            name='require_second_factor',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='user',
            name='second_factor_since',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.CreateModel(
            name='Passkey',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('credential_id', models.BinaryField(max_length=1023, unique=True)),
                ('public_key', models.BinaryField()),
                ('sign_count', models.PositiveBigIntegerField()),
                ('created_time', models.DateTimeField()),
                ('last_used_time', models.DateTimeField(null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='passkeys', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('digest', models.BinaryField()),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'digest'), name='recovery_code_once')],
            },
        ),
        migrations.RunSQL(
            "UPDATE companies_user SET second_factor_since = CURRENT_TIMESTAMP "
            "WHERE id IN (SELECT user_id FROM otp_totp_totpdevice WHERE confirmed)",
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            "DROP TABLE IF EXISTS otp_static_statictoken, otp_static_staticdevice", migrations.RunSQL.noop
        ),
    ]

import companies.email_addresses
import companies.models.tenancy
import companies.models.users
import companies.time_zones
import django.contrib.postgres.fields
import django.core.serializers.json
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

# Migrations of earlier versions; a database with all of them has these tables already.
REPLACED = [
    '0001_schema', '0002_model_names', '0003_audit_log_table',
]


class Migration(migrations.Migration):

    initial = True
    replaces = [('companies', name) for name in REPLACED]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='DirectoryEntry',
            fields=[
                ('pk', models.CompositePrimaryKey('subject', 'company_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('subject', models.UUIDField()),
                ('company_id', models.UUIDField()),
            ],
            options={
                'verbose_name_plural': 'directory entries',
                'indexes': [models.Index(fields=['company_id'], name='directory_by_company')],
            },
        ),
        migrations.CreateModel(
            name='Company',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('datastore_id', models.CharField(max_length=64, null=True)),
                ('name', models.CharField(max_length=200)),
                ('base_currency', models.CharField(choices=[('EUR', 'EUR'), ('AUD', 'AUD'), ('BRL', 'BRL'), ('CAD', 'CAD'), ('CHF', 'CHF'), ('CNY', 'CNY'), ('CZK', 'CZK'), ('DKK', 'DKK'), ('GBP', 'GBP'), ('HKD', 'HKD'), ('HUF', 'HUF'), ('IDR', 'IDR'), ('ILS', 'ILS'), ('INR', 'INR'), ('ISK', 'ISK'), ('JPY', 'JPY'), ('KRW', 'KRW'), ('MXN', 'MXN'), ('MYR', 'MYR'), ('NOK', 'NOK'), ('NZD', 'NZD'), ('PHP', 'PHP'), ('PLN', 'PLN'), ('RON', 'RON'), ('SEK', 'SEK'), ('SGD', 'SGD'), ('THB', 'THB'), ('TRY', 'TRY'), ('USD', 'USD'), ('ZAR', 'ZAR')], default='EUR', max_length=3)),
                ('time_zone', models.CharField(default='UTC', max_length=64, validators=[companies.time_zones.check_time_zone])),
                ('domain', models.CharField(max_length=253, null=True)),
                ('custom_logo_path', models.CharField(max_length=200, null=True)),
                ('site_logo_path', models.CharField(editable=False, max_length=200, null=True)),
                ('site_logo_domain', models.CharField(editable=False, max_length=253, null=True)),
                ('site_logo_time', models.DateTimeField(editable=False, null=True)),
                ('last_overall_updated_time', models.DateTimeField()),
                ('pl_show_planning_percentage_for_past_months', models.BooleanField(default=False)),
                ('pl_show_all_categories', models.BooleanField(default=False)),
                ('pl_recognize_revenue_on_invoice', models.BooleanField(default=False)),
                ('auto_categorize', models.BooleanField(default=False)),
                ('require_second_factor', models.BooleanField(default=False)),
                ('data_start_date', models.DateField(null=True)),
                ('test_today', models.DateField(null=True)),
                ('closed_through', models.DateField(editable=False, null=True)),
                ('reported_through', models.DateField(editable=False, null=True)),
                ('valuation_category', models.CharField(choices=[('traditional', 'Traditional'), ('aiEnhanced', 'Ai Enhanced'), ('aiNative', 'Ai Native')], max_length=20, null=True)),
                ('valuation_lens', models.CharField(choices=[('fundraising', 'Fundraising'), ('acquisition', 'Acquisition')], max_length=20, null=True)),
                ('system_status', models.CharField(choices=[('sandbox', 'Sandbox'), ('trial', 'Trial'), ('free', 'Free'), ('paid', 'Paid'), ('cancelled', 'Cancelled'), ('expired', 'Expired'), ('beta', 'Beta')], default='trial', max_length=20)),
                ('system_trial_until', models.DateTimeField(blank=True, null=True)),
                ('system_expired_at', models.DateTimeField(blank=True, null=True)),
                ('system_deletion_warning', models.IntegerField(blank=True, null=True)),
                ('system_sandbox_expire_time', models.DateTimeField(blank=True, null=True)),
                ('system_deletion_scheduled_time', models.DateTimeField(blank=True, null=True)),
                ('system_payment_provider', models.JSONField(blank=True, null=True)),
                ('system_tier_overage_since', models.DateTimeField(blank=True, null=True)),
                ('first_hour_over', models.BooleanField(default=False, editable=False)),
                ('copied_company_id', models.UUIDField(editable=False, null=True)),
                ('demonstration', models.JSONField(editable=False, null=True)),
                ('computed_committed_mrr_eur', models.DecimalField(decimal_places=2, max_digits=30, null=True)),
                ('computed_active_customer_count', models.IntegerField(null=True)),
                ('computed_metrics_time', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name_plural': 'companies',
                'constraints': [models.CheckConstraint(condition=models.Q(('base_currency__in', ['EUR', 'AUD', 'BRL', 'CAD', 'CHF', 'CNY', 'CZK', 'DKK', 'GBP', 'HKD', 'HUF', 'IDR', 'ILS', 'INR', 'ISK', 'JPY', 'KRW', 'MXN', 'MYR', 'NOK', 'NZD', 'PHP', 'PLN', 'RON', 'SEK', 'SGD', 'THB', 'TRY', 'USD', 'ZAR'])), name='company_base_currency_known'), models.CheckConstraint(condition=models.Q(('system_status__in', ['sandbox', 'trial', 'free', 'paid', 'cancelled', 'expired', 'beta'])), name='company_status_known'), models.CheckConstraint(condition=models.Q(('valuation_category__in', ['traditional', 'aiEnhanced', 'aiNative'])), name='company_valuation_category_known'), models.CheckConstraint(condition=models.Q(('valuation_lens__in', ['fundraising', 'acquisition'])), name='company_valuation_lens_known'), models.CheckConstraint(condition=models.Q(('test_today', None), ('system_status', 'sandbox'), _connector='OR'), name='company_test_today_in_sandbox')],
            },
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('name', models.CharField(max_length=200)),
                ('digest', models.BinaryField(max_length=32)),
                ('last_four', models.CharField(max_length=4)),
                ('permissions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('expires_time', models.DateTimeField(null=True)),
                ('last_used_time', models.DateTimeField(null=True)),
                ('revoked_time', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'created_time'], name='api_key_by_time')],
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('time', models.DateTimeField()),
                ('actor', models.CharField(max_length=64, null=True)),
                ('credential', models.CharField(blank=True, max_length=120)),
                ('request_id', models.CharField(blank=True, max_length=64)),
                ('action', models.CharField(max_length=60)),
                ('entity_type', models.CharField(max_length=40)),
                ('entity_id', models.CharField(blank=True, max_length=64)),
                ('before', models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder, null=True)),
                ('after', models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder, null=True)),
                ('number', models.BigIntegerField(db_default=0, editable=False)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'constraints': [models.UniqueConstraint(fields=('company', 'number'), name='audit_entry_number_once')],
                'indexes': [models.Index(fields=['company', 'time', 'id'], name='audit_entry_by_time'), models.Index(fields=['company', 'entity_type', 'entity_id'], name='audit_entry_by_entity'), models.Index(fields=['request_id'], name='audit_entry_by_request')],
            },
        ),
        migrations.CreateModel(
            name='FailedRequest',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('time', models.DateTimeField()),
                ('request_id', models.CharField(max_length=64)),
                ('method', models.CharField(max_length=8)),
                ('path', models.CharField(max_length=200)),
                ('status', models.PositiveSmallIntegerField()),
                ('error', models.CharField(max_length=100)),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'time'], name='failed_request_by_time')],
            },
        ),
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('credential', models.CharField(max_length=120)),
                ('method', models.CharField(max_length=8)),
                ('path', models.CharField(max_length=500)),
                ('key', models.CharField(max_length=255)),
                ('request_digest', models.BinaryField(max_length=32)),
                ('status', models.PositiveSmallIntegerField()),
                ('headers', models.JSONField(default=dict)),
                ('body', models.BinaryField()),
                ('created_time', models.DateTimeField(db_index=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('credential', 'method', 'path', 'key'), name='idempotency_key_once')],
            },
        ),
        migrations.CreateModel(
            name='MaintenanceCheckpoint',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('work', models.CharField(max_length=40)),
                ('name', models.CharField(max_length=40)),
                ('time', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('company', 'work'), name='one_last_round_of_each_work')],
                'db_table': 'companies_lastround',
            },
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('email', models.EmailField(max_length=254, unique=True, validators=[companies.email_addresses.validate_email_address])),
                ('canonical_email', companies.models.users.CanonicalEmail(editable=False, max_length=254)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('is_active', models.BooleanField(default=True)),
                ('is_staff', models.BooleanField(default=False)),
                ('joined_time', models.DateTimeField(auto_now_add=True)),
                ('locale', models.CharField(blank=True, max_length=10)),
                ('mailed', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, size=None)),
                ('second_factor_since', models.DateTimeField(editable=False, null=True)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('canonical_email',), name='user_email_unique_in_any_spelling'), models.CheckConstraint(condition=models.Q(('email__regex', '[^\\x01-\\x7f]'), ('canonical_email', django.db.models.functions.text.Lower(django.db.models.functions.comparison.Collate('email', 'C'))), _connector='OR'), name='user_canonical_email_follows')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('joined_time', models.DateTimeField(null=True)),
                ('invited_email', models.CharField(max_length=254, null=True)),
                ('token_digest', models.CharField(max_length=64, null=True)),
                ('expires_time', models.DateTimeField(null=True)),
                ('role', models.CharField(choices=[('owner', 'owner'), ('admin', 'admin'), ('editor', 'editor'), ('viewer', 'viewer')], max_length=20)),
                ('permissions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), null=True, size=None)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('company', 'user'), name='membership_once_per_company', violation_error_code='already_member', violation_error_message='This person is a member already.'), models.UniqueConstraint(fields=('company', 'invited_email'), name='invited_once_per_company', violation_error_code='already_invited', violation_error_message='This address is invited already; the invitation can be sent again.'), models.CheckConstraint(condition=models.Q(models.Q(('expires_time', None), ('invited_email', None), ('joined_time__isnull', False), ('token_digest', None), ('user__isnull', False)), models.Q(('expires_time__isnull', False), ('invited_email__isnull', False), ('joined_time', None), ('token_digest__isnull', False), ('user', None)), _connector='OR'), name='membership_joined_or_invited'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'admin', 'editor', 'viewer'])), name='membership_role_known')],
            },
        ),
        migrations.CreateModel(
            name='Passkey',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='passkeys', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=100)),
                ('credential_id', models.BinaryField(max_length=1023, unique=True)),
                ('public_key', models.BinaryField()),
                ('sign_count', models.PositiveBigIntegerField()),
                ('created_time', models.DateTimeField()),
                ('last_used_time', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to=settings.AUTH_USER_MODEL)),
                ('digest', models.BinaryField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'digest'), name='recovery_code_once')],
            },
        ),
        migrations.CreateModel(
            name='RateCounter',
            fields=[
                ('name', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('window_number', models.BigIntegerField()),
                ('count', models.BigIntegerField()),
                ('expires_time', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('user', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('device', models.CharField(blank=True, max_length=60)),
                ('address', models.CharField(blank=True, max_length=45)),
                ('started_time', models.DateTimeField(null=True)),
                ('auth_time', models.DateTimeField(null=True)),
                ('seen_time', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'seen_time'], name='session_by_user')],
            },
        ),
        migrations.CreateModel(
            name='EmailChange',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('email', models.EmailField(max_length=254)),
                ('token_digest', models.CharField(max_length=64)),
                ('expires_time', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='SecurityLogEntry',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('time', models.DateTimeField()),
                ('event', models.CharField(choices=[('signedIn', 'Signed in'), ('signInFailed', 'Sign-in failed'), ('passwordChanged', 'Password changed'), ('factorChanged', 'Two-factor authentication changed'), ('apiKeyCreated', 'API key created'), ('emailChanged', 'Email address changed'), ('sessionsEnded', 'Other sessions signed out')], max_length=20)),
                ('detail', models.CharField(blank=True, max_length=300)),
                ('device', models.CharField(blank=True, max_length=60)),
                ('address', models.CharField(blank=True, max_length=45)),
                ('browser', models.CharField(blank=True, max_length=64)),
                ('request_id', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'verbose_name_plural': 'security log entries',
                'indexes': [models.Index(fields=['user', 'time', 'id'], name='personal_entry_by_time')],
                'constraints': [models.CheckConstraint(condition=models.Q(('event__in', ['signedIn', 'signInFailed', 'passwordChanged', 'factorChanged', 'apiKeyCreated', 'emailChanged', 'sessionsEnded'])), name='personal_event_known')],
                'db_table': 'companies_personalentry',
            },
        ),
        companies.models.tenancy.CompanyKeys([
            'Membership', 'ApiKey', 'MaintenanceCheckpoint', 'FailedRequest', 'AuditEntry',
        ]),
        companies.models.tenancy.run_script(__file__, 'directory.sql'),
        companies.models.tenancy.run_script(__file__, 'audit_log.sql'),
        migrations.RunSQL('ALTER TABLE companies_ratecounter SET UNLOGGED'),  # counts need not survive a crash
    ]

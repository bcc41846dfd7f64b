"""An invitation is a membership without a user. Whoever belonged to a company before goes on to, since they were added."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0010_numbers_say_it'),
    ]

    operations = [
        migrations.AddField(
            model_name='membership',
            name='expires_time',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='membership',
            name='invited_email',
            field=models.CharField(max_length=254, null=True),
        ),
        migrations.AddField(
            model_name='membership',
            name='joined_time',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='membership',
            name='token_digest',
            field=models.CharField(max_length=64, null=True),
        ),
        migrations.AlterField(
            model_name='membership',
            name='user',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL),
        ),
        migrations.RunSQL("UPDATE companies_membership SET joined_time = created_time", migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('company', 'invited_email'), name='invited_once_per_company', violation_error_code='already_invited', violation_error_message='This address is invited already; the invitation can be sent again.'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('expires_time', None), ('invited_email', None), ('joined_time__isnull', False), ('token_digest', None), ('user__isnull', False)), models.Q(('expires_time__isnull', False), ('invited_email__isnull', False), ('joined_time', None), ('token_digest__isnull', False), ('user', None)), _connector='OR'), name='membership_joined_or_invited'),
        ),
    ]

"""Model names: maintenance checkpoints and the security log.

The tables keep their names, so nothing in the database changes except content types.
"""

from django.db import migrations

# Old name, new name, table.
RENAMED_MODELS = (
    ('LastRound', 'MaintenanceCheckpoint', 'companies_lastround'),
    ('PersonalEntry', 'SecurityLogEntry', 'companies_personalentry'),
)


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0001_schema'),
    ]

    operations = [
        operation
        for old_name, new_name, table in RENAMED_MODELS
        for operation in (
            # First, so that RenameModel finds the table's name unchanged and runs no SQL.
            migrations.AlterModelTable(old_name, table),
            migrations.RenameModel(old_name, new_name),
        )
    ] + [
        migrations.AlterModelOptions('securitylogentry', {'verbose_name_plural': 'security log entries'}),
    ]

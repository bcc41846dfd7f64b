"""Model names in the terms of the field.

The tables keep their names, so nothing in the database changes except content types.
"""

from django.db import migrations

# Old name, new name, table.
RENAMED_MODELS = (
    ('Habit', 'CategorizationHistory', 'ledger_habit'),
    ('KnownBefore', 'ImportDuplicates', 'ledger_knownbefore'),
    ('PendingBefore', 'PendingSnapshot', 'ledger_pendingbefore'),
    ('RecurringBook', 'RecurringRevenueState', 'ledger_recurringbook'),
    ('RecurringMonth', 'RecurringRevenueMonth', 'ledger_recurringmonth'),
    ('RefusedMatch', 'DismissedMatch', 'ledger_refusedmatch'),
    ('TransactionBefore', 'TransactionSnapshot', 'ledger_transactionbefore'),
    ('TransactionTouched', 'AuditEntryTransaction', 'ledger_transactiontouched'),
)


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0006_subscription_event_imports'),
    ]

    operations = [
        operation
        for old_name, new_name, table in RENAMED_MODELS
        for operation in (
            # First, so that RenameModel finds the table's name unchanged and runs no SQL.
            migrations.AlterModelTable(old_name, table),
            migrations.RenameModel(old_name, new_name),
        )
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("planning", "0002_references_that_a_cluster_takes")]

    operations = [
        migrations.AddField("plannedtransaction", "auto_settle", models.BooleanField(default=True)),
    ]

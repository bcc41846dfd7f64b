"""The latest requests of each company that failed on our side, for staff who are asked about them."""

import django.db.models.deletion
from django.db import migrations, models

import companies.models.tenancy


class Migration(migrations.Migration):
    dependencies = [("companies", "0016_rounds")]

    operations = [
        migrations.CreateModel(
            name="FailedRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("time", models.DateTimeField()),
                ("request_id", models.CharField(max_length=64)),
                ("method", models.CharField(max_length=8)),
                ("path", models.CharField(max_length=200)),
                ("status", models.PositiveSmallIntegerField()),
                ("error", models.CharField(max_length=100)),
                (
                    "company",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="companies.company",
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["company", "time"], name="failed_request_by_time")]},
        ),
        companies.models.tenancy.CompanyKeys(["FailedRequest"]),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    """The last closed day of a company, and the last day of any month that was ever closed."""

    dependencies = [("companies", "0024_company_time_zone")]

    operations = [
        migrations.AddField("company", "closed_through", models.DateField(editable=False, null=True)),
        migrations.AddField("company", "reported_through", models.DateField(editable=False, null=True)),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scenarios", "0003_revision_name"),
    ]

    operations = [
        migrations.AddField(
            model_name="revision",
            name="rows",
            field=models.JSONField(default=dict, editable=False),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0006_workers"),
    ]

    operations = [
        migrations.AlterField(
            model_name="evaluation",
            name="kind",
            field=models.CharField(
                choices=[("capacity", "Capacity"), ("rate", "At one rate"), ("trial", "Whether a rate is held")],
                editable=False,
                max_length=10,
            ),
        ),
    ]

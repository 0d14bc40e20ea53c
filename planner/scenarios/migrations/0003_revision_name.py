from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scenarios", "0002_note"),
    ]

    operations = [
        migrations.AddField(
            model_name="revision",
            name="name",
            field=models.CharField(blank=True, default="", editable=False, max_length=200),
            preserve_default=False,
        ),
    ]

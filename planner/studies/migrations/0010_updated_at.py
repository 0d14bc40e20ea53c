import django.utils.timezone
from django.db import migrations, models
from django.db.models.functions import Coalesce


def last_known(apps, schema_editor):
    """As far as it is known of studies from before it was kept."""
    known = Coalesce("finished_at", "started_at", "created_at")
    apps.get_model("studies", "Study").unscoped.update(updated_at=known)


class Migration(migrations.Migration):
    dependencies = [("studies", "0009_rows_of_revisions")]

    operations = [
        migrations.AddField(
            model_name="study",
            name="updated_at",
            field=models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False),
        ),
        migrations.RunPython(last_known, migrations.RunPython.noop, elidable=True),
    ]

import django.utils.timezone
from django.db import migrations, models
from django.db.models import Max, OuterRef, Subquery
from django.db.models.functions import Coalesce


def last_revision(apps, schema_editor):
    """As far as it is known of questions from before it was kept."""
    revisions = apps.get_model("scenarios", "Revision").objects.filter(scenario=OuterRef("pk"))
    latest = revisions.order_by().values("scenario").annotate(at=Max("created_at")).values("at")
    apps.get_model("scenarios", "Scenario").unscoped.update(updated_at=Coalesce(Subquery(latest), "created_at"))


class Migration(migrations.Migration):
    dependencies = [("scenarios", "0005_origin")]

    operations = [
        migrations.AddField(
            model_name="scenario",
            name="updated_at",
            field=models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False),
        ),
        migrations.RunPython(last_revision, migrations.RunPython.noop, elidable=True),
    ]

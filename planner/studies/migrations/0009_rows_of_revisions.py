from django.db import migrations


def keep_rows_of_studies(apps, schema_editor):
    """Revisions saved before they kept rows have those that their latest study was made of."""
    study_of = apps.get_model("studies", "Study")
    revisions = apps.get_model("scenarios", "Revision")
    for study in study_of.unscoped.order_by("pk").iterator():
        spec = study.spec
        rows = {
            "model": spec["model"],
            "machines": [choice["machine"] for choice in spec["machines"]],
            "prices": study.prices,
        }
        revisions.objects.filter(pk=study.revision_id).update(rows=rows)


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0008_worked_s"),
        ("scenarios", "0004_revision_rows"),
    ]

    operations = [
        migrations.RunPython(keep_rows_of_studies, migrations.RunPython.noop, elidable=True),
    ]

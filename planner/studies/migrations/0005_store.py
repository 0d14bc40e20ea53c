"""Each study keeps its own copy of its results; the store's entries are packed, checked by sum, and may be evicted.

What studies have found is copied to them. The store begins empty: the entries were those of another engine.
"""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


def copy_results(apps, schema_editor):
    from planner.studies.packed import pack

    rows = apps.get_model("studies", "StudyDesign").objects.select_related("evaluation")
    for row in rows.iterator():
        design = pack(row.design_json)
        row.design, row.design_checksum = design.data, design.checksum
        if row.evaluation is not None:
            found = {name: value for name, value in row.evaluation.payload.items() if name != "wall_s"}
            result = pack(found)
            row.result, row.result_checksum, row.origin = result.data, result.checksum, "simulated"
        row.save(update_fields=["design", "design_checksum", "result", "result_checksum", "origin"])


class Migration(migrations.Migration):
    dependencies = [("studies", "0004_workload")]

    operations = [
        migrations.AddField("study", "damaged", models.PositiveIntegerField(default=0, editable=False)),
        migrations.RenameField("studydesign", "design", "design_json"),
        migrations.AddField("studydesign", "design", models.BinaryField(default=b""), preserve_default=False),
        migrations.AddField(
            "studydesign",
            "design_checksum",
            models.CharField(default="", editable=False, max_length=64),
            preserve_default=False,
        ),
        migrations.AddField("studydesign", "result", models.BinaryField(null=True)),
        migrations.AddField(
            "studydesign", "result_checksum", models.CharField(blank=True, editable=False, max_length=64)
        ),
        migrations.AddField(
            "studydesign",
            "origin",
            models.CharField(
                blank=True,
                choices=[
                    ("", "Not tried yet"),
                    ("simulated", "Simulated for this study"),
                    ("at_rate", "Capacity known before, simulated at this study's rate"),
                    ("known", "Known before"),
                    ("screened", "Not simulated: bounds rule it out"),
                ],
                editable=False,
                max_length=10,
            ),
        ),
        migrations.AlterField(
            "studydesign",
            "shard",
            models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="designs",
                to="studies.shard",
            ),
        ),
        migrations.RunPython(copy_results, migrations.RunPython.noop),
        migrations.RemoveField("studydesign", "design_json"),
        migrations.RemoveField("studydesign", "evaluation"),
        migrations.DeleteModel("Evaluation"),
        migrations.CreateModel(
            name="Evaluation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("capacity", "Capacity"), ("rate", "At one rate")], editable=False, max_length=10
                    ),
                ),
                ("payload", models.BinaryField()),
                ("checksum", models.CharField(editable=False, max_length=64)),
                ("size_bytes", models.PositiveIntegerField(editable=False)),
                ("engine_version", models.CharField(editable=False, max_length=64)),
                ("cpu_s", models.FloatField(default=0.0, editable=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("used_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={"indexes": [models.Index(fields=["used_at", "size_bytes"], name="least_used_first")]},
        ),
    ]

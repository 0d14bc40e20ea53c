import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Workload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("shipped", models.CharField(editable=False, max_length=40, null=True, unique=True)),
                ("name", models.CharField(max_length=100)),
                (
                    "kind",
                    models.CharField(
                        choices=[("uploaded", "Uploaded trace"), ("synthetic", "Synthetic mix")],
                        editable=False,
                        max_length=10,
                    ),
                ),
                ("content_hash", models.CharField(editable=False, max_length=64)),
                ("requests", models.PositiveIntegerField(editable=False)),
                ("file_name", models.CharField(blank=True, editable=False, max_length=255)),
                ("report", models.JSONField(editable=False, null=True)),
                ("spec", models.JSONField(editable=False, null=True)),
                ("summary", models.JSONField(editable=False)),
                (
                    "created_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, to="accounts.team"
                    ),
                ),
            ],
            options={
                "ordering": [
                    models.OrderBy(models.F("shipped"), descending=True, nulls_last=True),
                    "-created_at",
                    "-pk",
                ],
            },
            managers=[
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="TraceChunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(editable=False)),
                ("data", models.BinaryField()),
                (
                    "workload",
                    models.ForeignKey(
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chunks",
                        to="workloads.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.UniqueConstraint(fields=("team", "name"), name="one_workload_a_name"),
        ),
        migrations.AddConstraint(
            model_name="tracechunk",
            constraint=models.UniqueConstraint(fields=("workload", "number"), name="one_chunk_a_number"),
        ),
    ]

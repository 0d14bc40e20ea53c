"""The history of everything: which row, in which request, field by field. What was kept before stays, in the new form."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FIELD_OF_GRANTS = "may"
FIELD_OF_MEMBERS = "role"
TEXT = {"blank": True, "default": "", "editable": False}


def in_the_new_form(apps: Any, editor: Any) -> None:
    """A role or a right, from one text to the other."""
    rows = apps.get_model("accounts", "AuditEntry")._base_manager.using(editor.connection.alias)
    for entry in rows.exclude(before="", after="").iterator():
        field = FIELD_OF_GRANTS if entry.action.startswith("shared") else FIELD_OF_MEMBERS
        entry.changes = {field: [entry.before or None, entry.after or None]}
        entry.save(update_fields=["changes"])


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_people"),
    ]

    operations = [
        migrations.AddField("auditentry", "changes", models.JSONField(default=dict, editable=False)),
        migrations.RunPython(in_the_new_form, migrations.RunPython.noop),
        migrations.RemoveField("auditentry", "after"),
        migrations.RemoveField("auditentry", "before"),
        migrations.AddField("auditentry", "model", models.CharField(max_length=60, **TEXT)),
        migrations.AddField("auditentry", "row", models.CharField(max_length=150, **TEXT)),
        migrations.AddField("auditentry", "request_id", models.CharField(max_length=64, **TEXT)),
        migrations.AddField("auditentry", "token_name", models.CharField(max_length=100, **TEXT)),
        migrations.AddField("auditentry", "scenario_id", models.PositiveBigIntegerField(editable=False, null=True)),
        migrations.AlterField(
            "auditentry",
            "created_by",
            models.ForeignKey(
                db_constraint=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            "auditentry",
            "team",
            models.ForeignKey(
                editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, to="accounts.team"
            ),
        ),
        migrations.AddIndex(
            "auditentry", models.Index(fields=["team", "-created_at", "-id"], name="history_of_a_team")
        ),
        migrations.AddIndex(
            "auditentry", models.Index(fields=["team", "model", "row", "-created_at", "-id"], name="history_of_a_row")
        ),
        migrations.AddIndex(
            "auditentry", models.Index(fields=["scenario_id", "-created_at", "-id"], name="history_of_a_question")
        ),
    ]

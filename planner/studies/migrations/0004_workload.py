import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0003_queued_at"),
        ("workloads", "0001_workloads"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="workload",
            field=models.ForeignKey(
                default=0,  # there is no study yet
                editable=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="studies",
                to="workloads.workload",
            ),
            preserve_default=False,
        ),
    ]

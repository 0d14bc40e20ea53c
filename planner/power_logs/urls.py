from django.urls import path

from planner.lazy import views_of

view = views_of("planner.power_logs.views")
rest = views_of("planner.power_logs.api")

app_name = "power_logs"
urlpatterns = [
    path("new", view("new"), name="new"),
    path("<int:pk>", view("power_log_detail"), name="detail"),
    path("<int:pk>/delete", view("delete"), name="delete"),
    path("<int:pk>/report.json", view("download_report"), name="report"),
    path("<int:pk>/machine.json", view("download_machine"), name="machine"),
]
rest_patterns = [
    path("", rest("PowerLogs"), name="power_logs"),
    path("<int:power_log_id>", rest("PowerLogDetail"), name="power_log"),
]
"""Under /api/v1/power-logs/."""

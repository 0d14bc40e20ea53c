from django.urls import path

from planner.lazy import views_of

view = views_of("planner.calibrations.views")
rest = views_of("planner.calibrations.api")

app_name = "calibrations"
urlpatterns = [
    path("", view("calibration_list"), name="list"),
    path("new", view("new"), name="new"),
    path("<int:pk>", view("calibration_detail"), name="detail"),
    path("<int:pk>/delete", view("delete"), name="delete"),
    path("<int:pk>/latency.json", view("download"), name="download"),
]
rest_patterns = [
    path("", rest("Calibrations"), name="calibrations"),
    path("<int:calibration_id>", rest("CalibrationDetail"), name="calibration"),
]
"""Under /api/v1/calibrations/."""

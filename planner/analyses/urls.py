from django.urls import path

from planner.lazy import views_of

view = views_of("planner.analyses.views")
rest = views_of("planner.analyses.api")

app_name = "analyses"
urlpatterns = [
    path("<int:study_id>/analyses/", view("sections"), name="sections"),
    path("<int:study_id>/analyses/<slug:kind>/", view("analysis"), name="analysis"),
    path("<int:study_id>/analyses/<slug:kind>/cancel", view("cancel"), name="cancel"),
]
rest_patterns = [
    path("<int:study_id>/analyses", rest("Analyses"), name="analyses"),
    path("<int:study_id>/analyses/<slug:kind>", rest("AnalysisDetail"), name="analysis"),
]
"""Under /api/v1/studies/."""

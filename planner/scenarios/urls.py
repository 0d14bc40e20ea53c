from django.urls import path

from planner.lazy import views_of

view = views_of("planner.scenarios.views")
history = views_of("planner.scenarios.history_views")
rest = views_of("planner.scenarios.api")
meanwhile = views_of("planner.scenarios.meanwhile")
people = views_of("planner.scenarios.granting_views")

app_name = "scenarios"
urlpatterns = [
    path("", view("question"), name="question"),
    path("preview", view("preview"), name="preview"),
    path("questions/<int:scenario_id>/", history("scenario"), name="scenario"),
    path("questions/<int:scenario_id>/delete", history("delete"), name="delete"),
    path("questions/<int:scenario_id>/revisions/<int:number>/restore", history("restore"), name="restore"),
    path("questions/<int:scenario_id>/revisions/<int:number>/clone", history("clone"), name="clone"),
    path("questions/<int:scenario_id>/meanwhile", meanwhile("settle"), name="settle"),
    path("questions/<int:scenario_id>/people", people("share"), name="share_with"),
    path("questions/<int:scenario_id>/people/<int:grant_id>/end", people("end"), name="end_sharing"),
    path("questions/<int:scenario_id>/links", history("share"), name="share"),
    path("questions/<int:scenario_id>/links/<int:link_id>/revoke", history("revoke"), name="revoke"),
]
rest_patterns = [
    path("", rest("Scenarios"), name="scenarios"),
    path("<int:scenario_id>", rest("ScenarioDetail"), name="scenario"),
    path("<int:scenario_id>/revisions/", rest("Revisions"), name="revisions"),
    path("<int:scenario_id>/revisions/<int:number>", rest("RevisionDetail"), name="revision"),
]
"""Under /api/v1/scenarios/."""

from django.urls import path

from planner.lazy import views_of

action = views_of("planner.studies.actions")
view = views_of("planner.studies.views")
rest = views_of("planner.studies.api")
comparing = views_of("planner.comparing.views")

app_name = "studies"
urlpatterns = [
    path("<int:study_id>/", view("result"), name="result"),
    path("<int:study_id>/ask", view("ask"), name="ask"),
    path("<int:study_id>/status", view("status"), name="status"),
    path("<int:study_id>/view", view("view"), name="view"),
    path("<int:study_id>/simulate", view("simulate"), name="simulate"),
    path("<int:study_id>/brief", view("brief"), name="brief"),
    path("<int:study_id>/headline", view("headline"), name="headline"),
    path("<int:study_id>/designs/by-<str:chart>/", view("table"), name="table"),
    path("<int:study_id>/designs/<str:design_id>/", view("design"), name="design"),
    path("<int:study_id>/designs/<str:design_id>/pilot", view("pilot"), name="pilot"),
    path("<int:study_id>/compare/", comparing("of_study"), name="compare"),
    path("<int:study_id>/cancel", action("cancel"), name="cancel"),
    path("<int:study_id>/retry", action("retry"), name="retry"),
    path("<int:study_id>/designs.csv", action("designs_csv"), name="designs_csv"),
    path("<int:study_id>/designs.json", action("designs_json"), name="designs_json"),
]
rest_patterns = [
    path("", rest("Studies"), name="studies"),
    path("<int:study_id>", rest("StudyDetail"), name="study"),
    path("<int:study_id>/designs", rest("StudyDesigns"), name="study_designs"),
    path("<int:study_id>/answer", rest("StudyAnswer"), name="study_answer"),
    path("<int:study_id>/frontier", rest("StudyFrontier"), name="study_frontier"),
    path("<int:study_id>/cancel", rest("StudyCancelled"), name="study_cancel"),
    path("<int:study_id>/retry", rest("StudyRetried"), name="study_retry"),
]
"""Under /api/v1/studies/."""

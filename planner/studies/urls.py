from django.urls import path

from planner.studies import actions, views

app_name = "studies"
urlpatterns = [
    path("<int:study_id>/", views.result, name="result"),
    path("<int:study_id>/ask", views.ask, name="ask"),
    path("<int:study_id>/status", views.status, name="status"),
    path("<int:study_id>/power", views.power, name="power"),
    path("<int:study_id>/brief", views.brief, name="brief"),
    path("<int:study_id>/headline", views.headline, name="headline"),
    path("<int:study_id>/designs/<str:design_id>/", views.design, name="design"),
    path("<int:study_id>/cancel", actions.cancel, name="cancel"),
    path("<int:study_id>/retry", actions.retry, name="retry"),
    path("<int:study_id>/designs.csv", actions.designs_csv, name="designs_csv"),
    path("<int:study_id>/designs.json", actions.designs_json, name="designs_json"),
]

from django.urls import URLPattern, path

from planner.studies import actions

app_name = "studies"
urlpatterns: list[URLPattern] = [
    path("<int:study_id>/cancel", actions.cancel, name="cancel"),
    path("<int:study_id>/retry", actions.retry, name="retry"),
    path("<int:study_id>/designs.csv", actions.designs_csv, name="designs_csv"),
    path("<int:study_id>/designs.json", actions.designs_json, name="designs_json"),
]

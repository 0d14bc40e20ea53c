from django.urls import path

from planner.lazy import views_of

view = views_of("planner.workloads.views")
rest = views_of("planner.workloads.api")

app_name = "workloads"
urlpatterns = [
    path("", view("workload_list"), name="list"),
    path("upload", view("upload"), name="upload"),
    path("uploads/<int:pk>", view("report"), name="report"),
    path("uploads/<int:pk>/discard", view("discard"), name="discard"),
    path("mix", view("new_mix"), name="mix"),
    path("mix/preview", view("mix_preview_part"), name="mix_preview"),
    path("<int:pk>", view("workload_detail"), name="detail"),
    path("<int:pk>/rescaled", view("rescaled"), name="rescaled"),
    path("<int:pk>/delete", view("delete"), name="delete"),
    path("<int:pk>/trace.csv", view("download"), name="download"),
]
rest_patterns = [
    path("", rest("Workloads"), name="workloads"),
    path("<int:workload_id>", rest("WorkloadDetail"), name="workload"),
    path("<int:workload_id>/rescaled", rest("WorkloadRescaled"), name="workload_rescaled"),
]
"""Under /api/v1/workloads/."""

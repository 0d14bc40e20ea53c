from django.urls import path

from planner.workloads import views

app_name = "workloads"
urlpatterns = [
    path("", views.workload_list, name="list"),
    path("upload", views.upload, name="upload"),
    path("mix", views.new_mix, name="mix"),
    path("<int:pk>", views.workload_detail, name="detail"),
    path("<int:pk>/delete", views.delete, name="delete"),
    path("<int:pk>/trace.csv", views.download, name="download"),
]

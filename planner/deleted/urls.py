from django.urls import path

from planner.lazy import views_of

view = views_of("planner.deleted.views")
rest = views_of("planner.deleted.api")

app_name = "deleted"
urlpatterns = [
    path("", view("deleted"), name="list"),
    path("<str:deleted_kind>/<int:deleted_id>/restore", view("restore"), name="restore"),
]
rest_patterns = [
    path("", rest("AllDeleted"), name="deleted"),
    path("<str:deleted_kind>/<int:deleted_id>", rest("OneDeleted"), name="deleted_row"),
    path("<str:deleted_kind>/<int:deleted_id>/restore", rest("Restored"), name="deleted_restore"),
]
"""Under /api/v1/deleted/."""

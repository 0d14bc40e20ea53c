from django.urls import path

from planner.catalogue import views

app_name = "catalogue"
urlpatterns = [
    path("", views.index, name="index"),
    path("prices/<str:book_id>", views.price_book, name="price_book"),
    path("<str:table>/<str:row_id>", views.row, name="row"),
]

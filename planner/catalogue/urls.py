from django.urls import path

from planner.lazy import views_of

view = views_of("planner.catalogue.views")
rest = views_of("planner.catalogue.api")

app_name = "catalogue"
urlpatterns = [
    path("", view("index"), name="index"),
    path("models/new", view("new_model"), name="new_model"),
    path("prices/<str:book_id>", view("price_book"), name="price_book"),
    path("<str:table>/<str:row_id>", view("row"), name="row"),
]
rest_patterns = [
    path("price-books/", rest("PriceBooks"), name="price-books"),
    path("price-books/<str:book_id>/", rest("OnePriceBook"), name="price-book"),
    path("<str:table>/", rest("Rows"), name="catalogue-rows"),
    path("<str:table>/<str:row_id>/", rest("Row"), name="catalogue-row"),
]
"""Under /api/v1/catalogue/."""

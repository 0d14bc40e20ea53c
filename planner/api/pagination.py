"""Every list of the REST interface: `limit`, `offset`; at most 1000 rows a page."""

from rest_framework.pagination import LimitOffsetPagination


class Pagination(LimitOffsetPagination):
    default_limit = 100
    max_limit = 1000

"""The catalogue in the database: shipped rows, which loading replaces, and a team's own, which it never touches."""

from typing import Any, ClassVar

from django.core.validators import MinValueValidator
from django.db import models

from planner.accounts.models import OwnedModel
from simcore.catalogue import STATUSES, TABLES
from simcore.spec import OFFER_TERMS

USER = "user"
TABLE_CHOICES = [(name, name) for name in TABLES]
STATUS_CHOICES = [(name, name) for name in (*STATUSES, USER)]


class Figure(models.Model):
    """One figure, with where it comes from; ``value`` is text as the CSV writes it, in the unit of the field's name."""

    table = models.CharField(max_length=20, choices=TABLE_CHOICES)
    row_id = models.CharField(max_length=100)
    field = models.CharField(max_length=50)
    value = models.CharField(max_length=200)
    unit = models.CharField(max_length=20, blank=True)
    source = models.TextField()
    date = models.CharField(max_length=10)
    status = models.CharField(max_length=10, choices=STATUS_CHOICES)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.row_id} {self.field}: {self.value} {self.unit}".strip()


class ShippedFigure(Figure):
    """A figure that comes with Phaseplan: the same as the installed version's CSV after each load."""

    position = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "row_id", "field"], name="one_shipped_value_a_figure")
        ]


class FigureOverride(OwnedModel, Figure):
    """A team's own value of a figure, or a figure of a row of its own (a new ``row_id``). No load touches it."""

    class Meta:
        ordering: ClassVar = ["table", "row_id", "pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "table", "row_id", "field"], name="one_override_a_figure")
        ]


class MachinePrice(models.Model):
    """What one machine costs an hour, with where it comes from."""

    machine = models.CharField(max_length=100)
    usd_per_hour = models.DecimalField(max_digits=14, decimal_places=6, validators=[MinValueValidator(0)])
    currency = models.CharField(max_length=3, default="USD")
    local_per_hour = models.DecimalField(max_digits=16, decimal_places=6, null=True, validators=[MinValueValidator(0)])
    """In ``currency``, as the source says it; empty where that is USD."""
    kind = models.CharField(max_length=20, default="on_demand")
    source = models.TextField()
    date = models.CharField(max_length=10)
    status = models.CharField(max_length=10, choices=STATUS_CHOICES)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.machine}: {self.usd_per_hour} {self.currency}/h"


class ShippedPrice(MachinePrice):
    """A price of a shipped book: the same as the installed version's CSV after each load."""

    book_id = models.CharField(max_length=50)
    position = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["book_id", "machine"], name="one_shipped_price_a_machine")
        ]


class ShippedPriceBook(models.Model):
    """Name and date of a shipped book."""

    book_id = models.CharField(max_length=50, unique=True)
    name = models.CharField(max_length=100)
    date = models.CharField(max_length=10)
    position = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar = ["position"]

    def __str__(self) -> str:
        return self.name


class CatalogueImport(OwnedModel):
    """An uploaded CSV, kept while its changes are looked at, and after they were made as the record of what was."""

    table = models.CharField(max_length=20, editable=False)
    """One of the tables, or ``prices``."""
    file_name = models.CharField(max_length=200, editable=False)
    content = models.BinaryField()
    applied_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.file_name} into {self.table}"


class PriceBook(OwnedModel):
    """A team's own price book; one with a shipped book's id stands in for it. No load touches it."""

    book_id = models.SlugField(max_length=50)
    name = models.CharField(max_length=100)
    date = models.CharField(max_length=10)

    class Meta:
        ordering: ClassVar = ["name", "pk"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "book_id"], name="one_book_of_an_id_a_team")]

    def __str__(self) -> str:
        return self.name


class Price(MachinePrice):
    """A price of a team's own book."""

    book = models.ForeignKey(PriceBook, on_delete=models.CASCADE, related_name="prices")

    class Meta:
        ordering: ClassVar = ["machine"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["book", "machine"], name="one_price_a_machine")]


class Quote(models.Model):
    """What a vendor offers for one machine under one term, in a team's own book (``simcore.spec.Offer``)."""

    book = models.ForeignKey(PriceBook, on_delete=models.CASCADE, related_name="quotes")
    machine = models.CharField(max_length=100)
    term = models.CharField(max_length=20, choices=[(name, name) for name in OFFER_TERMS])
    vendor = models.CharField(max_length=100)
    quote = models.CharField(max_length=100)
    currency = models.CharField(max_length=3)
    price = models.DecimalField(max_digits=18, decimal_places=6)
    discount = models.DecimalField(max_digits=9, decimal_places=8)
    breaks: "models.JSONField[list[Any], list[Any]]" = models.JSONField(default=list)
    """``[{"machines": 8, "price": "290000"}, …]``."""
    support_per_year = models.DecimalField(max_digits=18, decimal_places=6)
    valid_from = models.CharField(max_length=10, blank=True)
    valid_to = models.CharField(max_length=10, blank=True)
    source = models.TextField()
    date = models.CharField(max_length=10)

    class Meta:
        ordering: ClassVar = ["machine", "term", "vendor", "quote"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["book", "machine", "term", "vendor", "quote"], name="one_quote_of_a_number")
        ]

    def __str__(self) -> str:
        return f"{self.quote} of {self.vendor}: {self.machine}"


class ExchangeRate(models.Model):
    """What one unit of a currency is in USD, in a team's own book."""

    book = models.ForeignKey(PriceBook, on_delete=models.CASCADE, related_name="rates")
    currency = models.CharField(max_length=3)
    usd = models.DecimalField(max_digits=20, decimal_places=10)
    date = models.CharField(max_length=10)
    source = models.TextField()

    class Meta:
        ordering: ClassVar = ["currency"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["book", "currency"], name="one_rate_a_currency")]

    def __str__(self) -> str:
        return f"1 {self.currency} = {self.usd} USD"

"""Names that people give: text of one line that reads as it is stored.

Control characters and marks that turn the direction of what follows (U+202E and its like) would make a label in a
table, a chart or a spreadsheet read as something else.
"""

from django import forms

from simcore.words import counted


def plain(text: str) -> str:
    """Without what cannot be seen, for names that nobody typed here: of files, of copies."""
    return "".join(character for character in text if character.isprintable()).strip()


def refuse_unseen(text: str) -> None:
    """ValidationError naming the first character that cannot be seen, and where it stands."""
    unseen = [(place, character) for place, character in enumerate(text, 1) if not character.isprintable()]
    if unseen:
        place, character = unseen[0]
        raise forms.ValidationError(
            f"Found {counted(len(unseen), 'character')} that cannot be seen, the first U+{ord(character):04X} at place"
            f" {place}; expected text that reads as it is stored.",
            code="unseen",
        )


class NameField(forms.CharField):
    """A name of one line."""

    default_validators = [refuse_unseen]

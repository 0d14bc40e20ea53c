import pytest
from django import forms

from planner.plain_text import NameField, plain


def test_a_name_of_any_script_is_kept():
    assert NameField().clean("Chat, Zürich 日本語 العربية – 70 %") == "Chat, Zürich 日本語 العربية – 70 %"


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200b", "\x07", "\n"], ids=lambda mark: f"U+{ord(mark):04X}")
def test_what_cannot_be_seen_is_refused_by_its_place(mark):
    with pytest.raises(forms.ValidationError) as refused:
        NameField().clean(f"ab{mark}cd{mark}ef")
    assert f"Found 2 characters that cannot be seen, the first U+{ord(mark):04X} at place 3" in str(refused.value)


def test_a_files_name_loses_what_cannot_be_seen():
    assert plain("trace\u202egsc.csv\u200b ") == "tracegsc.csv"

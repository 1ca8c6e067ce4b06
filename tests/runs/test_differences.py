from headgauge.runs.differences import differences, sentence


def test_equal_settings_have_none():
    assert differences({"a": {"b": [1, None]}}, {"a": {"b": [1, None]}}) == {}


def test_names_are_dotted_and_values_as_in_json():
    there = {"length": 512, "text": {"name": "prose", "offset": 0}, "old": True}
    here = {"length": 1024, "text": {"name": "verse", "offset": 0}, "new": None}
    assert differences(there, here) == {
        "length": ("512", "1024"),
        "text.name": ('"prose"', '"verse"'),
        "new": ("not set", "null"),
        "old": ("true", "not set"),
    }


def test_a_section_against_a_value():
    assert differences({"a": {"b": 1}}, {"a": {}}) == {
        "a": ("not set", "{}"),
        "a.b": ("1", "not set"),
    }


def test_a_sentence_shows_three_and_counts_the_rest():
    found: dict[str, tuple[str, str]] = dict.fromkeys("abcde", ("1", "2"))
    assert sentence(found) == (
        "a is 1 there, 2 here; b is 1 there, 2 here; c is 1 there, 2 here; and 2 more"
    )
    assert sentence({"a": ("1", "2")}, "before", "after") == "a is 1 before, 2 after"


def test_a_long_value_is_cut():
    ((said, _),) = differences({"a": list(range(100))}, {"a": []}).values()
    assert len(said) == 40
    assert said.startswith("[0, 1, 2")
    assert said.endswith("…")

"""Which rows are shown."""

from headgauge.measure.samples import sampled_places


def test_places_are_fixed_by_the_seed_and_see_something() -> None:
    places = sampled_places(1024, 4, (0, 0, 1024))
    assert places == sampled_places(1024, 4, (0, 0, 1024)) == sorted(set(places))
    assert len(places) == 4
    assert min(places) >= 128
    assert places != sampled_places(1024, 4, (1, 0, 1024))
    assert sampled_places(4, 9, (0,)) == [0, 1, 2, 3]

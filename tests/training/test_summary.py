import numpy as np

from headgauge.training.summary import picture, scalars


def test_a_few_numbers_over_all_heads():
    record = {
        "heads": {"entropy_share": [[0.5, 0.1], [0.9]], "max_logit": [[3.0, None], [7.0]]},
        "spectra": None,
        "cost": 0.01,
    }
    found = scalars(record, 2)
    assert found == {
        "headgauge/entropy_share_mean": 0.5,
        "headgauge/entropy_share_min": 0.1,
        "headgauge/max_logit": 7.0,
        "headgauge/alarms": 2.0,
        "headgauge/cost": 0.01,
    }
    assert scalars(None, 0) == {}


def test_a_picture_has_a_square_for_each_head_and_grey_where_there_is_none():
    made = picture([[0.0, 1.0, 0.5], [0.2, None]])
    assert made.shape == (24, 36, 3)
    assert made.dtype == np.uint8
    squares = made[6::12, 6::12]
    assert squares[1, 1].tolist() == squares[1, 2].tolist() == [128, 128, 128]
    assert len({tuple(each) for each in squares[0].tolist()}) == 3
    assert (picture([[None]]) == 128).all()

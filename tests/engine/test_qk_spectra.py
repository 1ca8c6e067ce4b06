"""Spectra of a device's weights; what they are is tested in tests/theory/test_roles.py."""

import torch

from elsewhere import Elsewhere
from headgauge.engine.qk_spectra import qk_spectra


def test_without_double_they_are_made_in_double_on_the_cpu(elsewhere: Elsewhere, unchecked: None):
    query, key = torch.randn(4, 32, 6), torch.randn(2, 32, 6)
    expected = qk_spectra(query.double(), key.double())
    given = (query, key) if not elsewhere.double else (query.double(), key.double())
    found = qk_spectra(*(elsewhere.far(each) for each in given))
    assert found == expected

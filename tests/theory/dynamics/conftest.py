"""As for the particles themselves."""

from particles.conftest import elsewhere, one_thread, scheme, small_simulation

__all__ = ["elsewhere", "one_thread", "scheme", "small_simulation"]

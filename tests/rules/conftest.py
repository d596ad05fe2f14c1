"""What these tests share with those of `unit`, which start no processes either."""

from tests.unit.conftest import nothing_is_left

__all__ = ["nothing_is_left"]

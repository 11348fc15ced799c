"""Something is raised that is none of clmst's errors."""

from typing import NoReturn

from clmst import Forest
from tests.prove.plants.planting import plant


def fail(forest: Forest) -> NoReturn:
    raise TypeError(f"no {forest}")


plant(fail)

"""The process ends as by a fault of a driver."""

import os

from tests.prove.plants.planting import plant

plant(lambda _: os.abort())

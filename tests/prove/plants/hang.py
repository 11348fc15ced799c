"""No answer comes."""

import time

from tests.prove.plants.planting import plant

plant(lambda _: time.sleep(1000))

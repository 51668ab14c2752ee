import pytest
from fourscore_command import first_measured, fourscore, measured  # noqa: F401
from pretended_slurm import Campaign


@pytest.fixture
def cluster(tmp_path) -> Campaign:
    return Campaign(tmp_path)

import pytest
import torch


@pytest.fixture
def threads():
    """Set torch's number of threads for one test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)

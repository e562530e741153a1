"""scikit-learn's own checks of the estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tvgnn import TVClustering

# Few epochs and narrow layers: the checks look at the interface, on data of a few dozen rows.
SMALL = TVClustering(2, max_iter=60, hidden_channels=32, mlp_channels=16, n_neighbors=5, random_state=0)


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
@parametrize_with_checks([SMALL])
def test_scikit_learn_check(estimator, check):
    check(estimator)

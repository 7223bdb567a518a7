import warnings

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from trueaxis.pursuit import PrincipalComponentPursuit


@pytest.mark.parametrize(
    "estimator",
    [
        PrincipalComponentPursuit(),
        PrincipalComponentPursuit(1, center=True, solver="altproj"),
        PrincipalComponentPursuit(missing="nan"),
    ],
    ids=str,
)
def test_estimator_checks_pass_without_exception(estimator):
    with warnings.catch_warnings():
        # The checks warn about themselves where an optional dependency of theirs is absent.
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert not failed
    assert not any(r["expected_to_fail"] for r in results)


def test_clone_and_parameters():
    pursuit = PrincipalComponentPursuit(2, lam=0.1)
    assert clone(pursuit).get_params() == pursuit.get_params()

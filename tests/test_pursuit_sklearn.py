from sklearn.base import clone

from trueaxis.pursuit import PrincipalComponentPursuit


def test_clone_and_parameters():
    pursuit = PrincipalComponentPursuit(2, lam=0.1)
    assert clone(pursuit).get_params() == pursuit.get_params()

"""The scikit-learn estimators: the only place where loss, solver and source meet."""

from trueaxis.estimators.robust_pca import RobustPCA

__all__ = ["RobustPCA"]

"""The scikit-learn estimators: the only place where loss, solver and source meet."""

from trueaxis.estimators._breakdown import BreakdownWarning
from trueaxis.estimators.outlier_detector import PCAOutlierDetector
from trueaxis.estimators.robust_pca import RobustPCA

__all__ = ["BreakdownWarning", "PCAOutlierDetector", "RobustPCA"]

"""Low rank plus sparse: a matrix as the sum of a regular part and gross errors.

`PrincipalComponentPursuit` is for wrong entries, `StablePCP` for wrong entries in noisy data, and
`OutlierPursuit` for wrong rows. All three minimize a convex objective, and stop when a feasible
point of the dual problem proves how near to its optimum they are.
"""

from trueaxis.pursuit.outlier_pursuit import OutlierPursuit
from trueaxis.pursuit.principal_component_pursuit import PrincipalComponentPursuit
from trueaxis.pursuit.stable_pcp import StablePCP

__all__ = ["OutlierPursuit", "PrincipalComponentPursuit", "StablePCP"]

"""Low rank plus sparse: a matrix as the sum of a regular part and gross errors.

`PrincipalComponentPursuit` finds wrong entries.
"""

from trueaxis.pursuit.principal_component_pursuit import PrincipalComponentPursuit

__all__ = ["PrincipalComponentPursuit"]

"""What a row's residual costs, and the weight that the cost gives the row.

A loss knows nothing of the data. A row loss is a function ρ of t = ‖r‖², concave and increasing;
its weight d = 2ρ′(t) is that of the quadratic Σ d_i t_i which touches Σ ρ(t_i) from above. An
entrywise loss sees the whole residual instead.
"""

from trueaxis.losses.base import Loss, ScaledLoss, ScaleMinimizer
from trueaxis.losses.bounded import Bisquare, Trimmed, m_scale
from trueaxis.losses.power import L1, L2p
from trueaxis.losses.tempered import Cauchy, Huber

__all__ = [
    "L1",
    "Bisquare",
    "Cauchy",
    "Huber",
    "L2p",
    "Loss",
    "ScaleMinimizer",
    "ScaledLoss",
    "Trimmed",
    "m_scale",
]

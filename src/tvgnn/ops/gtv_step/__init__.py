"""One step of gradient descent on the graph total variation."""

from tvgnn.ops.gtv_step.op import gtv_step
from tvgnn.ops.gtv_step.reference import ACTIVATIONS, gtv_step_reference

__all__ = ["ACTIVATIONS", "gtv_step", "gtv_step_reference"]

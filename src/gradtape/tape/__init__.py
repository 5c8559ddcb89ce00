"""GradientTape, the backward sweep, jacobians, custom gradients and forward mode."""

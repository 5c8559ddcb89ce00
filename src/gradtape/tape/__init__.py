"""GradientTape, the backward pass, jacobians, custom gradients and forward mode."""

"""Values on accelerators: device arrays, where an op is placed, and how both come into use."""

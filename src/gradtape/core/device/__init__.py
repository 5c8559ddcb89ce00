"""Values on accelerators: device arrays, and the placement of ops."""

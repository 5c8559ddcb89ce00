"""Values on accelerators, and the placement of ops; `DevicePort` connects `core` to it."""

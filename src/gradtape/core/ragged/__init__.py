"""RaggedTensor, its spec, and the row partitions behind it."""

"""Sources of datasets: tensors, generators and files."""

"""Models in files: their objects, and their functions as graphs for all sizes."""

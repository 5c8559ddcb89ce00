"""Signal ops: Fourier and cosine transforms, and frames."""

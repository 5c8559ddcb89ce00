"""Where NaN and infinity come from: floating-point flags, checks of results, and their meaning."""

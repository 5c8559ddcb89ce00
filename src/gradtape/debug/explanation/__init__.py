"""Why a gradient is None: the ledger as a graph of data, a search for breaks, and the answer."""

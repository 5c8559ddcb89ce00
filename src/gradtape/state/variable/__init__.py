"""Variable: its storage, its methods and its operators."""

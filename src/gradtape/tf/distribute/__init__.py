"""tf.distribute: strategies, replica contexts, reductions, and the options they accept."""

"""The methods: from a centred table to a network with a probability for every edge."""

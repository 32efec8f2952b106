"""Complete methods: from a prepared table to a `rcweb.solution.Solution`."""

"""Tables in, results out, saved models."""

"""What is done with a fitted model: activities, and how stable they are."""

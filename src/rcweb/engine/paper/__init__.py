"""The published search: one column by removing rows, the others from inflated matrices."""

"""What a record says: validated, reduced to what the rest needs. Knows nothing of points, tables or plots."""

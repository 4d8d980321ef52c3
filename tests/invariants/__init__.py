"""Laws that hold for any history."""

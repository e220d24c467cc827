"""Small tables of what goes with what, each row with its source and date, and the rules that read them."""

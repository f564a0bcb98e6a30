"""The papers' own data sets: where each comes from, how its file is read, and what the experiments made of it."""

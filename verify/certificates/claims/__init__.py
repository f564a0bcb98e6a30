"""What is known about each claim of a deployment."""

"""What every record of a data set means to a mechanism, all records at once."""

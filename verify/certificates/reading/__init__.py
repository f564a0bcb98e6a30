"""Files of records: what they are, their columns, and the rules that bring records into the public domain."""

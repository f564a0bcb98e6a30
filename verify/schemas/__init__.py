"""What every line of a record holds, as types that are checked when it is read; the JSON Schemas are made from them."""

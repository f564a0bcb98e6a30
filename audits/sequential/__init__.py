"""Audits of mechanisms whose draws are dear: one pair is chosen, then bets until it refutes."""

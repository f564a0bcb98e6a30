"""Audits of mechanisms whose draws are dear: one pair chosen first, then bets until the claim is refuted or the draws are spent."""

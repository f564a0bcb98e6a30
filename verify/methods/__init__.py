"""Ways of deciding that many statements share: exact rationals, balls on a box or a line, tails, growth, units,
finite laws.
"""

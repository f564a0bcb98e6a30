"""The mechanisms as the code of the published experiments has them: each differs from its paper, and has a privacy
statement of its own.
"""

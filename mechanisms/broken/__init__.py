"""The negative controls: mechanisms that do not do what they state, and reports that do not cover what they say."""

#: The modules that hold misstated mechanisms.
MECHANISMS = ("broken_linear", "broken_objective", "broken_releases", "broken_training")

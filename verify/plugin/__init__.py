"""The pytest plugin: one audit a test, the published statements as tests, their record."""

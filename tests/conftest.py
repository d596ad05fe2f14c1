"""Settings for all tests."""

from hypothesis import HealthCheck, settings

# A shared machine may stand still for a while; that is no finding.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

"""Settings for all tests."""

import signal

from hypothesis import HealthCheck, settings

# A shared machine may stand still for a while; that is no finding.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# A shell that runs the tests in the background has them ignore what the tests send to the referee.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

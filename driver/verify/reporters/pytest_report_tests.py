"""A plugin of pytest that writes one line for each test into the file that TEST_REPORT_FILE names: the file that it stands in,
its name and how it ended. The last line says that the run came to its end."""
import json
import os

import pytest

# The workers of pytest-xdist tell the process that started them, which reports for all.
worker = "PYTEST_XDIST_WORKER" in os.environ
report = open(os.devnull if worker else os.environ["TEST_REPORT_FILE"], "w", encoding="utf-8", buffering=1)


def say(**what):
    report.write(json.dumps(what) + "\n")


def name(nodeid):
    file, _, test = nodeid.partition("::")
    return file, test


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        file, test = name(item.nodeid)
        say(event="begin", file=file, test=test)


def pytest_collectreport(report):
    if report.nodeid and "::" not in report.nodeid:
        say(event="file", file=report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    file, test = name(report.nodeid)
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        say(event="end", file=file, test=test, end="failed", why=crash.message if crash else str(report.longrepr))
    elif report.skipped:
        say(event="end", file=file, test=test, end="excused" if hasattr(report, "wasxfail") else "skipped")
    elif report.when == "call":
        say(event="end", file=file, test=test, end="passed")


def pytest_sessionfinish(session):
    say(event="done")

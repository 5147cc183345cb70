"""A pytest plugin for eth-abi's own tests, which come with its source distribution: `eth_abi.encode` and `decode` are those
of `lydite.compat.eth_abi`. `tests/published/run` runs them."""

import eth_abi
import eth_abi.abi
import pytest

from lydite.compat import eth_abi as ours

served = 0


def counted(codec_of):
    def codec(types):
        global served
        found = codec_of(types)
        served += found is not None
        return found

    return codec


ours._codec = counted(ours._codec)
for module in (eth_abi, eth_abi.abi):
    module.encode, module.decode = ours.encode, ours.decode


def pytest_sessionfinish(session):
    if served < 100:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"{served} calls had a codec of Lydite's")

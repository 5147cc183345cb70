"""A pytest plugin for other packages' own tests, which come with their source distributions: the drop-ins of `lydite.compat`
take the places of what they stand in for. `run` says which tests are run. `LYDITE_SERVED` is the least number of calls that
Lydite must serve, so that a suite that goes around the drop-ins does not pass."""

import os

import eth_abi
import eth_abi.abi
import eth_account
import eth_keys.backends
import pytest

import lydite
from lydite.compat import eth_abi as our_abi
from lydite.compat.eth_account import Account
from lydite.compat.eth_keys import LyditeECCBackend

served = 0


def counted(function):
    def call(*arguments, **keywords):
        global served
        found = function(*arguments, **keywords)
        served += found is not None
        return found

    return call


our_abi._codec = counted(our_abi._codec)
for name in (
    "ecrecover",
    "public_key",
    "public_key_to_sec1",
    "recover_public_key",
    "sign",
    "sign_transaction",
    "to_checksum_address",
    "verify",
):
    setattr(lydite, name, counted(getattr(lydite, name)))

for module in (eth_abi, eth_abi.abi):
    module.encode, module.decode = our_abi.encode, our_abi.decode
# eth-keys also runs its tests on coincurve if it is installed.
eth_keys.backends.CoinCurveECCBackend = LyditeECCBackend
eth_account.Account = Account


def pytest_sessionfinish(session):
    if served < int(os.environ["LYDITE_SERVED"]):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"{served} calls were Lydite's")

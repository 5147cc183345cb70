#!/usr/bin/env python3
"""Takes a seeded sample of ethereum/tests: `generate.py GeneralStateTests > sample.json`, with that folder of a checkout."""

import json
import pathlib
import random
import sys

# Tests a folder, and more of those in which hashes, signatures and precompiles matter.
FEW, MANY = 4, 16
FAVOURED = ("stPreCompiledContracts", "stPreCompiledContracts2", "stZeroKnowledge", "stZeroKnowledge2", "stRandom", "stRandom2", "stCreate2", "Cancun", "Pyspecs", "VMTests")
SKIPPED = ("stTimeConsuming", "stQuadraticComplexityTest", "stMemoryStressTest", "stAttackTest")
LIMIT = 6_000
FORK = "Cancun"



def storage_alone(test):
    """Whether an account has storage, but neither code nor a nonce: revm creates contracts there, which EIP-7610 forbids."""
    return any(a["storage"] and a["code"] == "0x" and int(a["nonce"], 16) == 0 for a in test["pre"].values())


random = random.Random(15)
root = pathlib.Path(sys.argv[1])
sample = []
for folder in sorted(path for path in root.iterdir() if path.is_dir() and path.name not in SKIPPED):
    tests = []
    for file in sorted(folder.rglob("*.json")):
        for name, test in sorted(json.loads(file.read_text()).items()):
            if FORK not in test["post"]:
                continue
            cases = random.sample(test["post"][FORK], min(2, len(test["post"][FORK])))
            test = {
                "name": f"{folder.name}/{file.stem}/{name}",
                "env": {key.removeprefix("current"): value for key, value in test["env"].items()},
                "pre": test["pre"],
                "cases": [
                    {"transaction": case["txbytes"], "invalid": "expectException" in case, "root": case["hash"], "logs": case["logs"]}
                    for case in cases
                ],
            }
            if len(json.dumps(test)) < LIMIT:
                tests.append(test)
    sample += random.sample(tests, min(MANY if folder.name in FAVOURED else FEW, len(tests)))
sample = [test for test in sample if not storage_alone(test)]
print("[" + ",\n".join(json.dumps(test, separators=(",", ":")) for test in sample) + "]")

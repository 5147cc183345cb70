#!/usr/bin/env python3
"""Compares each adapter with an independent plain loop over the same items: check.py [contender...]

The figures must agree within 5 %, so that an adapter that slows its peer fails. Each plain loop is a small program here
that is built and run like its contender, without the arena's kit. Both sides run batches in turn, and the fastest of each
count. Where they disagree, both are started again, up to three times: what a compiler makes of a loop differs between
processes. Needs the contenders' toolchains and a quiet machine.
"""

import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
CONTENDERS = HERE.parents[1] / "contenders"
TURNS = 25
BATCH_NS = 20_000_000
STARTS = 4
BOUND = 0.05

draw = random.Random(1)
ITEMS = 64


def blobs(items):
    return b"".join(struct.pack("<I", len(item)) + item for item in items)


def lp(data):
    return struct.pack("<I", len(data)) + data


def many(make):
    """Items of 64 elements."""
    return lambda: b"".join(make() for _ in range(64))


def scalar():
    """A secret key: not zero, below the order."""
    return draw.randrange(1, 1 << 255).to_bytes(32, "big")


# Items by row, with the layouts of docs/adding-a-contender.md.
ROWS = {
    "keccak256_32b": lambda: draw.randbytes(32),
    "keccak256_1kb": lambda: draw.randbytes(1024),
    "u256_add": many(lambda: draw.randbytes(64)),
    "u256_mul": many(lambda: draw.randbytes(64)),
    "hex_encode_32b": many(lambda: draw.randbytes(32)),
    "hex_decode_32b": many(lambda: draw.randbytes(32).hex().encode()),
    "abi_encode_static": many(lambda: draw.randbytes(52)),
    "rlp_decode_u256": many(lambda: lp(b"\xa0" + b"\x01" + draw.randbytes(31))),
    "secp256k1_sign": lambda: scalar() + draw.randbytes(32),
    "secp256k1_public_key": scalar,
    "precompile_07": lambda: (1).to_bytes(32, "big") + (2).to_bytes(32, "big") + draw.randbytes(32),
    "precompile_10": lambda: bytes(17) + draw.randbytes(47),
    # A program that returns nothing.
    "bytecode": lambda: lp(bytes.fromhex("5f5ff3")) + draw.randbytes(32),
}


class Program:
    def __init__(self, command, folder, env):
        self.pipe = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **env}, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, line):
        self.pipe.stdin.write(line + "\n")
        self.pipe.stdin.flush()
        while answer := self.pipe.stdout.readline():
            # Other lines are banners.
            if answer.startswith("{"):
                answer = json.loads(answer)
                if "err" in answer:
                    sys.exit(f"{line}: {answer}")
                return answer
        sys.exit(f"no answer to: {line}")

    def end(self):
        self.pipe.kill()
        self.pipe.communicate()


def go(name, folder, env):
    """A test file that is compiled as a part of the contender's module, so with its lock file."""
    target = folder / "target"
    target.mkdir(exist_ok=True)
    overlay = target / "overlay.json"
    overlay.write_text(json.dumps({"Replace": {str(folder / "plain_test.go"): str(HERE / f"{name}_test.go")}}))
    build = ["go", "test", "-c", "-mod=readonly", "-overlay", str(overlay), "-o", "target/plain.test", "."]
    subprocess.run(build, cwd=folder, env={**os.environ, **env}, check=True)
    return ["target/plain.test", "-test.run", "TestPlain"]


def javascript(name, folder, env):
    flags = ["--expose-gc", "--single-threaded-gc", "--experimental-import-meta-resolve"]
    return ["node", *flags, str(HERE / "plain.mjs"), name]


def python(name, folder, env):
    return [".venv/bin/python", str(HERE / "plain.py"), name]


PEERS = {
    "go-ethereum": (go, "keccak256_32b keccak256_1kb u256_add u256_mul hex_encode_32b hex_decode_32b abi_encode_static "
                    "rlp_decode_u256 secp256k1_sign precompile_07 precompile_10 bytecode"),
    "gnark-crypto": (go, "precompile_07 precompile_10"),
    "noble": (javascript, "keccak256_32b keccak256_1kb hex_encode_32b hex_decode_32b secp256k1_public_key"),
    "ethers": (javascript, "keccak256_32b keccak256_1kb hex_encode_32b hex_decode_32b abi_encode_static secp256k1_sign"),
    "viem": (javascript, "keccak256_32b keccak256_1kb u256_add u256_mul hex_encode_32b hex_decode_32b abi_encode_static"),
    "ox": (javascript, "keccak256_32b keccak256_1kb hex_encode_32b hex_decode_32b abi_encode_static"),
    "voltaire": (javascript, "keccak256_32b keccak256_1kb hex_encode_32b hex_decode_32b abi_encode_static"),
    "secp256k1-node": (javascript, "secp256k1_sign secp256k1_public_key"),
    "python-eth": (python, "keccak256_32b keccak256_1kb u256_add hex_encode_32b hex_decode_32b abi_encode_static secp256k1_sign"),
    "python-fast": (python, "keccak256_32b keccak256_1kb abi_encode_static secp256k1_sign secp256k1_public_key"),
}


def check(name, rows, plain_of, path):
    folder = CONTENDERS / name
    variant = tomllib.loads((folder / "contender.toml").read_text())["variants"][0]
    env = variant.get("env", {})
    for command in variant["build"]:
        subprocess.run(command, cwd=folder, env={**os.environ, **env}, check=True)
    commands = {"adapter": variant["run"], "plain": plain_of(name, folder, env)}
    failed = 0
    for row in rows:
        path.write_bytes(blobs([ROWS[row]() for _ in range(ITEMS)]))
        best = dict.fromkeys(commands, float("inf"))
        for start in range(STARTS):
            for side, ns in times(commands, folder, env, row, path).items():
                best[side] = min(best[side], ns)
            ratio = best["adapter"] / best["plain"]
            if abs(ratio - 1) <= BOUND:
                break
        slow = ratio > 1 + BOUND
        failed += slow
        verdict = "THE ADAPTER SLOWS ITS PEER" if slow else "ok"
        print(
            f"{name:16} {row:28} adapter {best['adapter']:12.1f} ns, plain {best['plain']:12.1f} ns: {ratio:.3f} {verdict}"
            f" (starts: {start + 1})",
            flush=True,
        )
    return failed


def times(commands, folder, env, row, path):
    """Nanoseconds an item takes each side, each in a new process."""
    sides = {side: Program(command, folder, env) for side, command in commands.items()}
    operation = "keccak256" if row.startswith("keccak256_") else row
    sides["adapter"].ask(f"prepare {operation} {path} none")
    sides["plain"].ask(f"prepare {row} {path}")
    n = 1
    while (took := sides["adapter"].ask(f"run {n} 0")["ns"]) < BATCH_NS / 4:
        n *= 2
    n = max(1, n * BATCH_NS // took)
    best = dict.fromkeys(sides, float("inf"))
    for _ in range(TURNS):
        for side, program in sides.items():
            best[side] = min(best[side], program.ask(f"run {n} 0")["ns"] / n)
    for program in sides.values():
        program.end()
    return best


def main():
    names = sys.argv[1:] or list(PEERS)
    if unknown := [name for name in names if name not in PEERS]:
        sys.exit(f"no plain loop for {', '.join(unknown)}; there are: {', '.join(PEERS)}")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "items.blobs"
        failed = sum(check(name, PEERS[name][1].split(), PEERS[name][0], path) for name in names)
    sys.exit(f"{failed} rows of an adapter are more than 5 % slower than a plain loop" if failed else 0)


if __name__ == "__main__":
    main()

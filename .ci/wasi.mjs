// Runs a wasm32-wasip1 program: `node .ci/wasi.mjs PROGRAM ARGUMENTS`. It has access to the whole file system.
import { readFile } from "node:fs/promises";
import { argv, cwd, env, exit } from "node:process";
import { WASI } from "node:wasi";

const [program, ...rest] = argv.slice(2);
const wasi = new WASI({
  version: "preview1",
  args: [program, ...rest],
  env: { ...env, PWD: cwd() },
  preopens: { "/": "/" },
  returnOnExit: true,
});
const { instance } = await WebAssembly.instantiate(await readFile(program), wasi.getImportObject());
exit(wasi.start(instance));

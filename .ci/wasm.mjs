// Checks the size of the module built from crates/ocapn/examples/syrup_wasm.rs and runs every vector through it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const bytes = readFileSync(process.argv[2]);
assert(bytes.length <= 70_000, `${bytes.length} bytes`);
const { instance } = await WebAssembly.instantiate(bytes, {});
const { memory, syrup_allocate, syrup_free, ...calls } = instance.exports;

/** The result's bytes, or null. */
function call(name, message) {
  const input = syrup_allocate(message.length);
  new Uint8Array(memory.buffer).set(message, input);
  const result = BigInt.asUintN(64, calls[name](input, message.length));
  syrup_free(input, message.length);
  if (result === 0n) return null;
  const [address, length] = [Number(result >> 32n), Number(result & 0xffffffffn)];
  const output = Buffer.from(new Uint8Array(memory.buffer, address, length).slice());
  syrup_free(address, length);
  return output;
}

let canonical = 0;
const vectors = JSON.parse(readFileSync(new URL("../vectors/syrup/vectors.json", import.meta.url)));
for (const { id, hex, sha256, cls } of vectors) {
  const message = Buffer.from(hex, "hex");
  const contentId = call("syrup_content_id", message);
  if (cls === "deep") continue;
  const valid = !["noncanonical", "truncated", "trailing", "invalid"].includes(cls);
  assert.equal(contentId?.toString("hex") ?? null, valid ? sha256 : null, id);
  if (contentId) {
    assert.deepEqual(call("syrup_canonical", message), message, id);
    canonical++;
  }
}
assert.deepEqual(call("syrup_canonical", Buffer.from('d 1"b 007+ 1"a 0- e')), Buffer.from('{1"a0+1"b7+}'));
console.log(`wasm: ${bytes.length} bytes, ${vectors.length} vectors, ${canonical} of them canonical`);

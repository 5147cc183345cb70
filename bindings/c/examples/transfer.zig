// Computes the address of a key with Keccak-256, using the C header, which Zig translates to a module:
//   zig translate-c -lc lydite.h >lydite.zig
//   zig build-exe -lc -llydite --dep lydite -Mroot=transfer.zig -Mlydite=lydite.zig
const std = @import("std");
const c = @import("lydite");

fn check(status: c.lydite_status) !void {
    if (status != 0) {
        std.debug.print("error {d}: {s}\n", .{ status, std.mem.span(c.lydite_last_error()) });
        return error.Lydite;
    }
}

pub fn main() !void {
    const secret: [32]u8 = @splat(0x46);
    var key: [64]u8 = undefined;
    var digest: [32]u8 = undefined;
    var text: [43]u8 = undefined;
    try check(c.lydite_public_key(&secret, &key));
    try check(c.lydite_keccak256(&key, key.len, &digest));
    try check(c.lydite_address_checksum(digest[12..].ptr, &text));
    _ = std.c.printf("%s\n", &text);
}

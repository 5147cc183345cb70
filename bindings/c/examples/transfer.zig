// Keccak-256 and the address of a key, by the C header.
const std = @import("std");
const c = @cImport(@cInclude("lydite.h"));

fn check(status: c.lydite_status) !void {
    if (status != 0) {
        std.debug.print("error {d}: {s}\n", .{ status, std.mem.span(c.lydite_last_error()) });
        return error.Lydite;
    }
}

pub fn main() !void {
    const secret = [_]u8{0x46} ** 32;
    var key: [64]u8 = undefined;
    var digest: [32]u8 = undefined;
    var text: [43]u8 = undefined;
    try check(c.lydite_public_key(&secret, &key));
    try check(c.lydite_keccak256(&key, key.len, &digest));
    try check(c.lydite_address_checksum(digest[12..].ptr, &text));
    _ = std.c.printf("%s\n", &text);
}

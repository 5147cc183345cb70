//! Zig's standard library: std.crypto, std.fmt and the language's own u256. What Voltaire's pure-Zig mode runs on.

const std = @import("std");
const kit = @import("kit");
const Allocator = std.mem.Allocator;
const Sink = kit.Sink;
const Keccak256 = std.crypto.hash.sha3.Keccak256;
const Hmac = std.crypto.auth.hmac.sha2.HmacSha256;
const Curve = std.crypto.ecc.Secp256k1;
const Scalar = Curve.scalar.Scalar;

fn keccak(message: []const u8) [32]u8 {
    var out: [32]u8 = undefined;
    Keccak256.hash(message, &out, .{});
    return out;
}

fn keccakOp(item: *const []const u8, sink: *Sink) !void {
    sink.emit(&keccak(item.*));
}

fn messages(arena: Allocator, item: []const u8) ![]const []const u8 {
    var rest = item[4..];
    const list = try arena.alloc([]const u8, std.mem.readInt(u32, item[0..4], .little));
    for (list) |*slot| slot.* = kit.lp(&rest);
    return list;
}

fn keccakBatch(list: *const []const []const u8, sink: *Sink) !void {
    for (list.*) |message| sink.emit(&keccak(message));
}

const KeyHash = struct { key: [32]u8, hash: [32]u8 };

fn keyHash(_: Allocator, item: []const u8) !KeyHash {
    return .{ .key = item[0..32].*, .hash = item[32..64].* };
}

// std's deterministic nonce mixes in noise and differs from RFC 6979, which all other contenders implement.
fn rfc6979(key: [32]u8, hash: [32]u8) [32]u8 {
    var k: [32]u8 = @splat(0);
    var v: [32]u8 = @splat(1);
    for ([_]u8{ 0, 1 }) |tag| {
        var mac = Hmac.init(&k);
        mac.update(&v);
        mac.update(&.{tag});
        mac.update(&key);
        mac.update(&hash);
        mac.final(&k);
        Hmac.create(&v, &v, &k);
    }
    Hmac.create(&v, &v, &k); // a nonce of 0 or at least n has probability 2^-128
    return v;
}

const Signed = struct { r: [32]u8, s: [32]u8, id: u8 };

fn sign(pair: *const KeyHash) !Signed {
    const nonce = rfc6979(pair.key, pair.hash);
    const point = (try Curve.basePoint.mul(nonce, .big)).affineCoordinates();
    const x = point.x.toBytes(.big);
    const r = reduce(x);
    const k = try Scalar.fromBytes(nonce, .big);
    const d = try Scalar.fromBytes(pair.key, .big);
    const s = k.invert().mul(reduce(pair.hash).add(r.mul(d)));
    var out = Signed{ .r = r.toBytes(.big), .s = s.toBytes(.big), .id = @intFromBool(point.y.isOdd()) };
    const half: u256 = (Curve.scalar.field_order - 1) / 2;
    if (std.mem.readInt(u256, &out.s, .big) > half) {
        out.s = s.neg().toBytes(.big);
        out.id ^= 1;
    }
    return out;
}

fn reduce(bytes: [32]u8) Scalar {
    var wide: [48]u8 = @splat(0);
    wide[16..48].* = bytes;
    return Scalar.fromBytes48(wide, .big);
}

fn setHash(pair: *KeyHash, x: u32) void {
    std.mem.writeInt(u32, pair.hash[0..4], x, .little);
}

fn signOp(pair: *const KeyHash, sink: *Sink) !void {
    const signed = try sign(pair);
    sink.emit(&(signed.r ++ signed.s ++ [1]u8{signed.id}));
}

fn recover(hash: [32]u8, signature: Signed) ![64]u8 {
    const r = try Scalar.fromBytes(signature.r, .big);
    const s = try Scalar.fromBytes(signature.s, .big);
    if (r.isZero() or s.isZero() or signature.id > 1) return error.BadSignature;
    const x = try Curve.Fe.fromBytes(signature.r, .big);
    const y = try Curve.recoverY(x, signature.id == 1);
    const point = try Curve.fromAffineCoordinates(.{ .x = x, .y = y });
    const inverse = r.invert();
    const u1_ = inverse.mul(reduce(hash)).neg();
    const u2_ = inverse.mul(s);
    const key = try Curve.mulDoubleBasePublic(Curve.basePoint, u1_.toBytes(.big), point, u2_.toBytes(.big), .big);
    return key.toUncompressedSec1()[1..].*;
}

fn recoverItem(item: []const u8) ![64]u8 {
    return recover(item[0..32].*, .{ .r = item[32..64].*, .s = item[64..96].*, .id = item[96] });
}

fn recoverOp(item: *const []const u8, sink: *Sink) !void {
    sink.emit(&try recoverItem(item.*));
}

fn recoverBatch(item: *const []const u8, sink: *Sink) !void {
    var rest = item.*;
    while (rest.len > 0) : (rest = rest[97..]) sink.emit(keccak(&try recoverItem(rest[0..97]))[12..]);
}

fn rejectsSignature(item: []const u8) !void {
    _ = try recoverItem(item);
}

fn signRecoverOp(pair: *const KeyHash, sink: *Sink) !void {
    sink.emit(&try recover(pair.hash, try sign(pair)));
}

fn publicKey(item: *const []const u8, sink: *Sink) !void {
    sink.emit((try Curve.basePoint.mul(item.*[0..32].*, .big)).toUncompressedSec1()[1..]);
}

fn addressOp(item: *const []const u8, sink: *Sink) !void {
    sink.emit(keccak(item.*)[12..]);
}

fn checksum(item: *const []const u8, sink: *Sink) !void {
    var text = std.fmt.bytesToHex(item.*[0..20].*, .lower);
    const hash = keccak(&text);
    for (&text, 0..) |*c, i| {
        const nibble = (hash[i / 2] >> (if (i % 2 == 0) 4 else 0)) & 15;
        if (c.* >= 'a' and nibble >= 8) c.* -= 32;
    }
    sink.emit(&([2]u8{ '0', 'x' } ++ text));
}

fn addresses(item: *const []const u8, sink: *Sink) !void {
    var rest = item.*;
    var out: [20]u8 = undefined;
    while (rest.len > 0) : (rest = rest[42..]) sink.emit(try std.fmt.hexToBytes(&out, rest[2..42]));
}

fn hexEncode(item: *const []const u8, sink: *Sink) !void {
    var rest = item.*;
    while (rest.len > 0) : (rest = rest[32..]) sink.emit(&std.fmt.bytesToHex(rest[0..32].*, .lower));
}

fn hexDecode(item: *const []const u8, sink: *Sink) !void {
    var rest = item.*;
    var out: [32]u8 = undefined;
    while (rest.len > 0) : (rest = rest[64..]) sink.emit(try std.fmt.hexToBytes(&out, rest[0..64]));
}

fn rejectsHex(item: []const u8) !void {
    var out: [4096]u8 = undefined;
    _ = try std.fmt.hexToBytes(&out, item);
}

fn numbers(arena: Allocator, item: []const u8) ![]u256 {
    const list = try arena.alloc(u256, item.len / 32);
    for (list, 0..) |*slot, i| slot.* = std.mem.readInt(u256, item[32 * i ..][0..32], .little);
    return list;
}

fn arithmetic(comptime id: []const u8, comptime per: usize, comptime function: fn (*const [per]u256) u256) kit.Op {
    const Impl = struct {
        // Sets bits 32 to 63 of the first operand of each row.
        fn change(list: *[]u256, x: u32) void {
            for (0..list.len / per) |i| {
                const limbs: *[8]u32 = @ptrCast(&list.*[per * i]);
                limbs[1] = kit.word(x, i);
            }
        }

        fn call(list: *const []u256, sink: *Sink) !void {
            var rest = list.*;
            while (rest.len > 0) : (rest = rest[per..]) {
                const out = function(rest[0..per]);
                sink.emit(std.mem.asBytes(&out));
            }
        }
    };
    return kit.opChanging(id, []u256, numbers, Impl.call, "le@4", Impl.change);
}

fn add(a: *const [2]u256) u256 {
    return a[0] +% a[1];
}
fn mul(a: *const [2]u256) u256 {
    return a[0] *% a[1];
}
fn div(a: *const [2]u256) u256 {
    return a[0] / a[1];
}
fn amountOut(a: *const [3]u256) u256 {
    const fee = a[0] *% 997;
    return (fee *% a[2]) / (a[1] *% 1000 +% fee);
}
fn mulDiv(a: *const [3]u256) u256 {
    return @truncate(@as(u512, a[0]) * a[1] / a[2]);
}
fn swap(a: *const [3]u256) u256 {
    return mulDiv(&.{ a[0], a[1], a[0] +% a[2] *% a[1] });
}

const ops = [_]kit.Op{
    kit.op("keccak256", []const u8, kit.same, keccakOp),
    kit.op("keccak256_batch", []const []const u8, messages, keccakBatch),
    kit.opChanging("secp256k1_sign", KeyHash, keyHash, signOp, "le@32", setHash),
    kit.opChanging("secp256k1_sign_recover", KeyHash, keyHash, signRecoverOp, "le@32", setHash),
    kit.op("secp256k1_recover", []const u8, kit.same, recoverOp),
    kit.rows("secp256k1_recover_batch", 97, recoverBatch),
    kit.op("secp256k1_public_key", []const u8, kit.same, publicKey),
    kit.op("address_derivation", []const u8, kit.same, addressOp),
    kit.op("checksum_address_into", []const u8, kit.same, checksum),
    kit.rows("address_from_hex", 42, addresses),
    kit.rows("hex_encode_32b_into", 32, hexEncode),
    kit.rows("hex_decode_32b_into", 64, hexDecode),
    arithmetic("u256_add", 2, add),
    arithmetic("u256_mul", 2, mul),
    arithmetic("u256_div", 2, div),
    arithmetic("u256_uniswapv2_amount_out", 3, amountOut),
    arithmetic("u256_mulDiv", 3, mulDiv),
    arithmetic("u256_uniswapv4_swap", 3, swap),
    kit.neg("hex_decode_32b", rejectsHex),
    kit.neg("secp256k1_recover", rejectsSignature),
};

pub fn main() !void {
    try kit.serve("zig-std", @import("builtin").zig_version_string, &ops);
}

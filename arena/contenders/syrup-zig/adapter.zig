//! Adapter of the Zig codec in syrup.zig.

const std = @import("std");
const kit = @import("kit");
const Arena = @import("Arena.zig");
const syrup = @import("syrup.zig");
const Allocator = std.mem.Allocator;
const Sink = kit.Sink;
const Value = syrup.Value;

const gpa = std.heap.smp_allocator;

// Memory reused between calls: the caller's buffer, the arena of decoded lists, the decoder's stack.
var buffer: [2 << 20]u8 = undefined;
var arena_state = Arena.init(gpa);
var stack: std.ArrayList(Value) = .empty;

fn decode(data: []const u8) !Value {
    arena_state.reset();
    return syrup.decode(data, arena_state.allocator(), &stack, gpa, false);
}

/// A tree that owns all its parts.
const Owned = struct {
    arena: Arena,
    tree: Value,

    fn decode(data: []const u8) !Owned {
        var arena = Arena.init(gpa);
        errdefer arena.deinit();
        const tree = try syrup.decode(data, arena.allocator(), &stack, gpa, true);
        return .{ .arena = arena, .tree = tree };
    }
};

fn head(tree: *const Value) u64 {
    return switch (tree.*) {
        .list, .set => |items| items.len,
        .dictionary => |entries| entries.len,
        .record => |record| record.fields.len,
        else => 1,
    };
}

fn fold(tree: *const Value) u64 {
    var sum: u64 = 0;
    switch (tree.*) {
        .boolean => |b| sum = @intFromBool(b),
        .integer => |i| sum = if (i.negative) 0 -% i.magnitude else i.magnitude,
        .big => |b| {
            for (b.digits) |digit| sum = sum *% 10 +% (digit - '0');
            if (b.negative) sum = 0 -% sum;
        },
        .double => |d| sum = @bitCast(d),
        .single => |s| sum = @as(u32, @bitCast(s)),
        .bytes, .string, .symbol => |data| sum = data.len,
        .list, .set => |items| for (items) |*item| {
            sum +%= fold(item);
        },
        .dictionary => |entries| for (entries) |*entry| {
            sum +%= fold(&entry.key) +% fold(&entry.value);
        },
        .record => |record| {
            sum = fold(record.label);
            for (record.fields) |*field| sum +%= fold(field);
        },
    }
    return sum;
}

/// Adds the head to the checksum, or writes the encoding of the value.
fn emit(tree: *const Value, sink: *Sink) !void {
    if (sink.collected == null) return sink.word(head(tree));
    sink.emit(try syrup.encode(tree, &buffer, gpa));
}

fn fields(arena: Allocator, item: []const u8) ![]const []const u8 {
    var rest = item;
    var list: std.ArrayList([]const u8) = .empty;
    while (rest.len > 0) try list.append(arena, kit.lp(&rest));
    return list.items;
}

fn trees(arena: Allocator, item: []const u8) ![]Value {
    const data = try fields(arena, item);
    const list = try arena.alloc(Value, data.len);
    for (data, list) |bytes, *tree| tree.* = try syrup.decode(bytes, arena, &stack, gpa, true);
    return list;
}

/// Sets eight characters of the label, starting with its second one. The tree owns its parts.
fn setLabels(list: *[]Value, x: u32) void {
    for (list.*, 0..) |*tree, i| {
        const label = switch (tree.record.label.*) {
            .string, .symbol => |text| @constCast(text),
            else => continue,
        };
        if (label.len >= 9) kit.octal(label[1..9], kit.word(x, i));
    }
}

fn unsorted(arena: Allocator, item: []const u8) ![]Value {
    const flat = (try trees(arena, item))[0].list;
    const entries = try arena.alloc(syrup.Entry, flat.len / 2);
    for (entries, 0..) |*entry, i| entry.* = .{ .key = flat[2 * i], .value = flat[2 * i + 1] };
    const list = try arena.alloc(Value, 1);
    list[0] = .{ .dictionary = entries };
    return list;
}

fn encodeInto(list: *const []Value, sink: *Sink) !void {
    for (list.*) |*tree| sink.emit(try syrup.encode(tree, &buffer, gpa));
}

/// Encodes to the buffer, then copies to newly allocated memory of the right size.
fn encodeFresh(list: *const []Value, sink: *Sink) !void {
    for (list.*) |*tree| {
        const fresh = try gpa.dupe(u8, try syrup.encode(tree, &buffer, gpa));
        defer gpa.free(fresh);
        sink.emit(fresh);
    }
}

fn decodeAll(list: *const []const []const u8, sink: *Sink) !void {
    for (list.*) |data| {
        const tree = try decode(data);
        std.mem.doNotOptimizeAway(&tree);
        try emit(&tree, sink);
    }
}

fn decodeOwned(list: *const []const []const u8, sink: *Sink) !void {
    for (list.*) |data| {
        const owned = try Owned.decode(data);
        defer owned.arena.deinit();
        std.mem.doNotOptimizeAway(&owned);
        try emit(&owned.tree, sink);
    }
}

fn walk(list: *const []const []const u8, sink: *Sink) !void {
    for (list.*) |data| {
        const tree = try decode(data);
        sink.emit(std.mem.asBytes(&std.mem.nativeToLittle(u64, fold(&tree))));
    }
}

fn cid(list: *const []Value, sink: *Sink) !void {
    var hash: [32]u8 = undefined;
    std.crypto.hash.sha2.Sha256.hash(try syrup.encode(&list.*[0], &buffer, gpa), &hash, .{});
    sink.emit(&hash);
}

fn roundtripTree(list: *const []Value, sink: *Sink) !void {
    for (list.*) |*tree| {
        const bytes = try gpa.dupe(u8, try syrup.encode(tree, &buffer, gpa));
        defer gpa.free(bytes);
        const owned = try Owned.decode(bytes);
        defer owned.arena.deinit();
        std.mem.doNotOptimizeAway(&owned);
        try emit(&owned.tree, sink);
    }
}

fn reencode(data: *const []const u8, sink: *Sink) !void {
    const owned = try Owned.decode(data.*);
    defer owned.arena.deinit();
    const fresh = try gpa.dupe(u8, try syrup.encode(&owned.tree, &buffer, gpa));
    defer gpa.free(fresh);
    sink.emit(fresh);
}

var frames = syrup.Frames{ .cap = 1 << 20 };

fn stream(pieces: *const []const []const u8, sink: *Sink) !void {
    for (pieces.*) |piece| {
        try frames.feed(gpa, piece);
        while (try frames.next()) |payload| {
            const tree = try decode(payload);
            std.mem.doNotOptimizeAway(&tree);
            try emit(&tree, sink);
        }
    }
}

fn streamOwned(pieces: *const []const []const u8, sink: *Sink) !void {
    for (pieces.*) |piece| {
        try frames.feed(gpa, piece);
        while (try frames.next()) |payload| {
            const owned = try Owned.decode(payload);
            defer owned.arena.deinit();
            std.mem.doNotOptimizeAway(&owned);
            try emit(&owned.tree, sink);
        }
    }
}

// Typed rows

const Skill = struct {
    agent: []const u8,
    tool: []const u8,
    arguments: struct { n: i64, seed: i64 },
    last: i64,

    fn read(rest: *[]const u8) Skill {
        const agent = kit.lp(rest);
        const tool = kit.lp(rest);
        return .{ .agent = agent, .tool = tool, .arguments = .{ .n = readInt(rest), .seed = readInt(rest) }, .last = readInt(rest) };
    }

    fn encode(self: *const Skill, encoder: *syrup.Encoder) !void {
        try encoder.raw("<12\"skill:invoke");
        try encoder.text(self.agent, '\'');
        try encoder.text(self.tool, '\'');
        try syrup.encodeStruct(@TypeOf(self.arguments), &self.arguments, encoder);
        try encoder.number(@abs(self.last), if (self.last < 0) '-' else '+');
        try encoder.byte('>');
    }

    fn decode(data: []const u8) !Skill {
        var decoder = syrup.Decoder{ .data = data };
        try decoder.literal("<12\"skill:invoke");
        const agent = try decoder.text('\'');
        const tool = try decoder.text('\'');
        const arguments = try syrup.decodeStruct(@FieldType(Skill, "arguments"), &decoder);
        const last = try decoder.int();
        try decoder.literal(">");
        try decoder.end();
        return .{ .agent = agent, .tool = tool, .arguments = arguments, .last = last };
    }
};

const Server = struct {
    host: []const u8,
    port: i64,
    enabled: bool,

    fn read(rest: *[]const u8) Server {
        const host = kit.lp(rest);
        const port = readInt(rest);
        defer rest.* = rest.*[1..];
        return .{ .host = host, .port = port, .enabled = rest.*[0] == 1 };
    }
};

fn readInt(rest: *[]const u8) i64 {
    defer rest.* = rest.*[8..];
    return std.mem.readInt(i64, rest.*[0..8], .little);
}

fn structs(comptime T: type) fn (Allocator, []const u8) anyerror![]T {
    return struct {
        fn parse(arena: Allocator, item: []const u8) ![]T {
            var rest = item;
            var list: std.ArrayList(T) = .empty;
            while (rest.len > 0) try list.append(arena, T.read(&rest));
            return list.items;
        }
    }.parse;
}

fn encodeSkills(list: *const []Skill, sink: *Sink) !void {
    for (list.*) |*skill| {
        var encoder = syrup.Encoder{ .buffer = &buffer, .scratch = gpa };
        try skill.encode(&encoder);
        sink.emit(encoder.written());
    }
}

fn decodeSkills(list: *const []const []const u8, sink: *Sink) !void {
    for (list.*) |data| {
        const skill = try Skill.decode(data);
        sink.emit(skill.agent);
        sink.emit(skill.tool);
        sink.emit(std.mem.asBytes(&[3]i64{ skill.arguments.n, skill.arguments.seed, skill.last }));
    }
}

/// Sets the low 16 bits, like the kind `le16`.
fn setLow(number: anytype, w: u32) void {
    number.* = (number.* & ~@as(@TypeOf(number.*), 0xffff)) | (w >> 16);
}

fn setSeeds(list: *[]Skill, x: u32) void {
    for (list.*, 0..) |*skill, i| setLow(&skill.arguments.seed, kit.word(x, i));
}

fn setPorts(list: *[]Server, x: u32) void {
    for (list.*, 0..) |*server, i| setLow(&server.port, kit.word(x, i));
}

fn setPositions(list: *[]u64, x: u32) void {
    for (list.*, 0..) |*position, i| setLow(position, kit.word(x, i));
}

fn positions(arena: Allocator, item: []const u8) ![]u64 {
    const list = try arena.alloc(u64, item.len / 8);
    for (list, 0..) |*slot, i| slot.* = std.mem.readInt(u64, item[8 * i ..][0..8], .little);
    return list;
}

fn encodeExports(list: *const []u64, sink: *Sink) !void {
    for (list.*) |position| {
        var encoder = syrup.Encoder{ .buffer = &buffer, .scratch = gpa };
        try encoder.raw("<11'desc:export");
        try encoder.number(position, '+');
        try encoder.byte('>');
        sink.emit(encoder.written());
    }
}

fn decodeCaptp(list: *const []const []const u8, sink: *Sink) !void {
    for (list.*) |data| {
        var decoder = syrup.Decoder{ .data = data };
        try decoder.literal("<10'op:deliver<11'desc:export");
        const to = try decoder.int();
        try decoder.literal(">");
        const method = try decoder.text('\'');
        try decoder.literal("[");
        var numbers: [64]i64 = undefined;
        var count: usize = 0;
        while (decoder.at < data.len and data[decoder.at] != ']') : (count += 1) {
            if (count == numbers.len) return error.TooMany;
            numbers[count] = try decoder.int();
        }
        try decoder.literal("]>");
        try decoder.end();
        sink.emit(std.mem.asBytes(&to));
        sink.emit(method);
        sink.emit(std.mem.sliceAsBytes(numbers[0..count]));
    }
}

/// Decodes op:deliver; its arguments are validated and returned as raw bytes.
fn decodeDelivers(list: *const []const []const u8, sink: *Sink) !void {
    for (list.*) |data| {
        var decoder = syrup.Decoder{ .data = data };
        try decoder.literal("<10'op:deliver<11'desc:export");
        const to = try decoder.int();
        try decoder.literal(">");
        const start = decoder.at;
        if (start == data.len or data[start] != '[') return error.Invalid;
        arena_state.reset();
        stack.clearRetainingCapacity();
        _ = try decoder.value(.{ .arena = arena_state.allocator(), .stack = &stack, .gpa = gpa }, false, 1);
        const arguments = data[start..decoder.at];
        const answer: i64 = if (decoder.literal("f")) -1 else |_| try decoder.int();
        const resolve: i64 = if (decoder.literal("f")) -1 else |_| resolve: {
            try decoder.literal("<18'desc:import-object");
            const position = try decoder.int();
            try decoder.literal(">");
            break :resolve position;
        };
        try decoder.literal(">");
        try decoder.end();
        sink.emit(std.mem.asBytes(&[3]i64{ to, answer, resolve }));
        sink.emit(arguments);
    }
}

fn roundtripStructs(list: *const []Server, sink: *Sink) !void {
    for (list.*) |*server| {
        var encoder = syrup.Encoder{ .buffer = &buffer, .scratch = gpa };
        try syrup.encodeStruct(Server, server, &encoder);
        std.mem.doNotOptimizeAway(&encoder);
        var decoder = syrup.Decoder{ .data = encoder.written() };
        const back = try syrup.decodeStruct(Server, &decoder);
        try decoder.end();
        if (sink.collected != null) sink.emit(encoder.written());
        sink.emit(back.host);
        var rest: [9]u8 = undefined;
        std.mem.writeInt(i64, rest[0..8], back.port, .little);
        rest[8] = @intFromBool(back.enabled);
        sink.emit(&rest);
    }
}

fn decimals(list: *const []const []const u8, sink: *Sink) !void {
    for (list.*) |text| {
        var decoder = syrup.Decoder{ .data = text };
        const number = try decoder.number();
        sink.emit(std.mem.asBytes(&number.value));
    }
}

fn rejects(data: []const u8) !void {
    _ = try decode(data);
}

fn rejectsOwned(data: []const u8) !void {
    (try Owned.decode(data)).arena.deinit();
}

fn rejectsSkill(data: []const u8) !void {
    _ = try Skill.decode(data);
}

const ops = [_]kit.Op{
    kit.opChanging("syrup_encode", []Value, trees, encodeFresh, "digits@5", setLabels),
    kit.opChanging("syrup_encode_into", []Value, trees, encodeInto, "digits@5", setLabels),
    kit.op("syrup_encode_unsorted", []Value, unsorted, encodeFresh),
    kit.op("syrup_encode_unsorted_into", []Value, unsorted, encodeInto),
    kit.op("syrup_decode", []const []const u8, fields, decodeAll),
    kit.op("syrup_decode_owned", []const []const u8, fields, decodeOwned),
    kit.op("syrup_walk", []const []const u8, fields, walk),
    kit.opChanging("syrup_cid", []Value, trees, cid, "digits@5", setLabels),
    kit.op("syrup_roundtrip_tree", []Value, trees, roundtripTree),
    kit.op("syrup_reencode", []const u8, kit.same, reencode),
    kit.opChanging("syrup_encode_typed_skill", []Skill, structs(Skill), encodeSkills, "le16@-16", setSeeds),
    kit.op("syrup_decode_typed_skill", []const []const u8, fields, decodeSkills),
    kit.opChanging("syrup_encode_typed_export", []u64, positions, encodeExports, "le16@0", setPositions),
    kit.op("syrup_decode_typed_captp", []const []const u8, fields, decodeCaptp),
    kit.op("syrup_decode_typed_deliver", []const []const u8, fields, decodeDelivers),
    kit.opChanging("syrup_roundtrip_struct", []Server, structs(Server), roundtripStructs, "le16@-9", setPorts),
    kit.op("syrup_decimal", []const []const u8, fields, decimals),
    kit.op("syrup_stream", []const []const u8, fields, stream),
    kit.op("syrup_stream_owned", []const []const u8, fields, streamOwned),
    kit.neg("syrup_decode", rejects),
    kit.neg("syrup_walk", rejects),
    kit.neg("syrup_decode_owned", rejectsOwned),
    kit.neg("syrup_decode_typed_skill", rejectsSkill),
};

pub fn main() !void {
    try kit.serve("syrup-zig", @import("builtin").zig_version_string, &ops);
}

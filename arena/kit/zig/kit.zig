//! The arena's line protocol for contenders in Zig 0.15.
//!
//! A contender declares its operations as a tuple of `Op` types made by `op`: a parsed type `T`, `parse` (untimed, may
//! allocate from the given arena) and `call` (timed), which hands each output to `Sink.emit`.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// Sums the little-endian words of outputs, or collects them for `verify`.
pub const Sink = struct {
    acc: u64 = 0,
    collected: ?*std.ArrayList(u8) = null,
    gpa: Allocator,

    pub inline fn emit(self: *Sink, bytes: []const u8) void {
        if (self.collected) |list| {
            list.appendSlice(self.gpa, bytes) catch @panic("out of memory");
            return;
        }
        var rest = bytes;
        while (rest.len >= 8) : (rest = rest[8..]) self.acc +%= std.mem.readInt(u64, rest[0..8], .little);
        for (rest, 0..) |byte, i| self.acc +%= @as(u64, byte) << @intCast(8 * i);
    }

    /// A word that is summed only: what `verify` writes instead is emitted where `collected` is set.
    pub inline fn word(self: *Sink, value: u64) void {
        self.acc +%= value;
    }
};

const Batch = struct {
    state: *anyopaque,
    items: usize,
    runFn: *const fn (*anyopaque, usize, usize, *Sink) anyerror!void,
};

pub const Op = struct {
    id: []const u8,
    prepare: *const fn (Allocator, []const []const u8) anyerror!Batch,
};

/// An operation: `parse(arena, item) !T` is untimed, `call(*const T, *Sink) !void` is timed.
pub fn op(comptime id: []const u8, comptime T: type, comptime parse: fn (Allocator, []const u8) anyerror!T, comptime call: fn (*const T, *Sink) anyerror!void) Op {
    const Impl = struct {
        fn prepare(arena: Allocator, raw: []const []const u8) anyerror!Batch {
            const list = try arena.alloc(T, raw.len);
            for (raw, list) |item, *slot| slot.* = try parse(arena, item);
            const state = try arena.create([]T);
            state.* = list;
            return .{ .state = @ptrCast(state), .items = list.len, .runFn = run };
        }
        // Calls n items from `first` on, round and round.
        fn run(state: *anyopaque, first: usize, n: usize, sink: *Sink) anyerror!void {
            const list: *[]T = @ptrCast(@alignCast(state));
            var at = first;
            for (0..n) |_| {
                const item = &list.*[at];
                std.mem.doNotOptimizeAway(item); // the inputs are opaque to the optimiser
                try call(item, sink);
                at += 1;
                if (at == list.len) at = 0;
            }
        }
    };
    return .{ .id = id, .prepare = Impl.prepare };
}

/// A negative row: `decode` must fail on every item.
pub fn neg(comptime id: []const u8, comptime decode: fn ([]const u8) anyerror!void) Op {
    const Impl = struct {
        fn call(item: *const []const u8, sink: *Sink) anyerror!void {
            if (decode(item.*)) sink.emit(&.{0}) else |_| sink.emit(&.{1});
        }
    };
    return op("neg:" ++ id, []const u8, same, Impl.call);
}

pub fn same(_: Allocator, item: []const u8) anyerror![]const u8 {
    return item;
}

pub fn lp(data: *[]const u8) []const u8 {
    const size = std.mem.readInt(u32, data.*[0..4], .little);
    defer data.* = data.*[4 + size ..];
    return data.*[4 .. 4 + size];
}

fn readBlobs(arena: Allocator, path: []const u8) ![]const []const u8 {
    var data: []const u8 = try std.fs.cwd().readFileAlloc(arena, path, 1 << 30);
    var list: std.ArrayList([]const u8) = .empty;
    while (data.len > 0) try list.append(arena, lp(&data));
    return list.items;
}

/// Answers the driver until `quit` or the end of input.
pub fn serve(name: []const u8, version: []const u8, ops: []const Op) !void {
    const gpa = std.heap.smp_allocator;
    var arena_state = std.heap.ArenaAllocator.init(gpa);
    var in_buffer: [4096]u8 = undefined;
    var out_buffer: [16384]u8 = undefined;
    var in = std.fs.File.stdin().reader(&in_buffer);
    var out_file = std.fs.File.stdout().writer(&out_buffer);
    const out = &out_file.interface;
    var batch: ?Batch = null;
    while (in.interface.takeDelimiterInclusive('\n')) |line| {
        var words = std.mem.tokenizeAny(u8, line, " \r\n");
        const command = words.next() orelse continue;
        const first = words.next() orelse "";
        const second = words.next() orelse "";
        if (std.mem.eql(u8, command, "quit")) return;
        if (std.mem.eql(u8, command, "describe")) {
            try out.print("{{\"arena\":1,\"name\":\"{s}\",\"version\":\"{s}\",\"runtime\":\"Zig {s}\",\"threads\":1,\"ops\":[", .{ name, version, @import("builtin").zig_version_string });
            for (ops, 0..) |entry, i| try out.print("{s}\"{s}\"", .{ if (i == 0) "" else ",", entry.id });
            try out.writeAll("]}\n");
        } else {
            answer(gpa, &arena_state, ops, &batch, out, command, first, second) catch |err|
                try out.print("{{\"arena\":1,\"err\":\"rejected\",\"msg\":\"{s}\"}}\n", .{@errorName(err)});
        }
        try out.flush();
    } else |err| if (err != error.EndOfStream) return err;
}

fn answer(gpa: Allocator, arena: *std.heap.ArenaAllocator, ops: []const Op, batch: *?Batch, out: *std.Io.Writer, command: []const u8, first: []const u8, second: []const u8) !void {
    if (std.mem.eql(u8, command, "prepare")) {
        for (ops) |entry| if (std.mem.eql(u8, entry.id, first)) {
            _ = arena.reset(.retain_capacity);
            batch.* = try entry.prepare(arena.allocator(), try readBlobs(arena.allocator(), second));
            return out.print("{{\"arena\":1,\"ok\":true,\"items\":{d}}}\n", .{batch.*.?.items});
        };
        return out.print("{{\"arena\":1,\"err\":\"unsupported\",\"msg\":\"{s}\"}}\n", .{first});
    }
    if (std.mem.eql(u8, command, "verify")) {
        const prepared = batch.* orelse return error.NothingPrepared;
        const file = try std.fs.cwd().createFile(first, .{});
        defer file.close();
        var list: std.ArrayList(u8) = .empty;
        defer list.deinit(gpa);
        for (0..prepared.items) |i| {
            list.clearRetainingCapacity();
            var sink = Sink{ .collected = &list, .gpa = gpa };
            try prepared.runFn(prepared.state, i, 1, &sink);
            var size: [4]u8 = undefined;
            std.mem.writeInt(u32, &size, @intCast(list.items.len), .little);
            try file.writeAll(&size);
            try file.writeAll(list.items);
        }
        return out.writeAll("{\"arena\":1,\"ok\":true}\n");
    }
    if (std.mem.eql(u8, command, "run")) {
        const prepared = batch.* orelse return error.NothingPrepared;
        const n = try std.fmt.parseInt(usize, first, 10);
        var sink = Sink{ .gpa = gpa };
        var timer = try std.time.Timer.start();
        try prepared.runFn(prepared.state, 0, n, &sink);
        return out.print("{{\"arena\":1,\"n\":{d},\"ns\":{d},\"acc\":\"{x:0>16}\"}}\n", .{ n, timer.read(), sink.acc });
    }
    if (std.mem.eql(u8, command, "noop")) {
        const n = try std.fmt.parseInt(usize, first, 10);
        var timer = try std.time.Timer.start();
        for (0..n) |i| std.mem.doNotOptimizeAway(i);
        return out.print("{{\"arena\":1,\"n\":{d},\"ns\":{d}}}\n", .{ n, timer.read() });
    }
    if (std.mem.eql(u8, command, "gc")) return out.writeAll("{\"arena\":1,\"ok\":true}\n");
    return out.print("{{\"arena\":1,\"err\":\"unsupported\",\"msg\":\"{s}\"}}\n", .{command});
}

//! The arena's line protocol for contenders in Zig 0.17.
//!
//! A contender declares its operations with `op`: a parsed type `T`, `parse` (untimed, may allocate from the given
//! arena) and `call` (timed), which passes each output to `Sink.emit`.
//!
//! Between calls the kit changes the items by the rule of the row. It changes a `T` that is a slice of bytes or of such
//! slices itself (`rows` for bytes that consist of elements of one size), other types with the function given to
//! `opChanging`.

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
        var acc = self.acc;
        if (rest.len >= @sizeOf(Words)) {
            var sums: Words = @splat(0);
            while (rest.len >= @sizeOf(Words)) : (rest = rest[@sizeOf(Words)..]) sums +%= load(Words, rest);
            acc +%= @reduce(.Add, sums);
        }
        while (rest.len >= 8) : (rest = rest[8..]) acc +%= load(u64, rest);
        for (rest, 0..) |byte, i| acc +%= @as(u64, byte) << @intCast(8 * i);
        self.acc = acc;
    }

    // Zig 0.17 does not vectorise loops, so a long output is summed with explicit vectors, like Zig 0.15 did by itself.
    const Words = @Vector(16, u64);

    // Unlike readInt, which joins single bytes in Zig 0.17, this compiles to a load even after inlining.
    inline fn load(comptime T: type, bytes: []const u8) T {
        const value: *align(1) const T = @ptrCast(bytes.ptr);
        return std.mem.littleToNative(T, value.*);
    }

    /// Adds a word to the checksum only; `verify` output is emitted separately if `collected` is set.
    pub inline fn word(self: *Sink, value: u64) void {
        self.acc +%= value;
    }
};

const Batch = struct {
    state: *anyopaque,
    items: usize,
    /// Whether the rule is applied.
    changes: bool,
    runFn: *const fn (*anyopaque, usize, usize, u32, *Sink) anyerror!void,
};

pub const Op = struct {
    id: []const u8,
    prepare: *const fn (Allocator, []const []const u8, []const u8) anyerror!Batch,
};

/// The word of element i if that of the first is x.
pub inline fn word(x: u32, i: usize) u32 {
    return x +% @as(u32, @truncate(i)) *% 0x9E3779B9;
}

/// Writes a word as 8 octal digits, lowest first.
pub fn octal(out: *[8]u8, w: u32) void {
    for (out, 0..) |*c, j| c.* = '0' + @as(u8, @intCast((w >> @intCast(3 * j)) & 7));
}

/// A change rule: `<kind>@<offset>`.
const Rule = struct {
    kind: enum { le, be, le16, digits },
    offset: isize,

    fn parse(text: []const u8) !Rule {
        const at = std.mem.indexOfScalar(u8, text, '@') orelse return error.UnknownChangeRule;
        return .{
            .kind = std.meta.stringToEnum(@FieldType(Rule, "kind"), text[0..at]) orelse return error.UnknownChangeRule,
            .offset = try std.fmt.parseInt(isize, text[at + 1 ..], 10),
        };
    }

    /// Changes an element unless it is too short. The bytes belong to the kit's own copy of the file.
    fn apply(self: Rule, element: []const u8, w: u32) void {
        const start = if (self.offset < 0) self.offset + @as(isize, @intCast(element.len)) else self.offset;
        const size: usize = switch (self.kind) {
            .le, .be => 4,
            .le16 => 2,
            .digits => 8,
        };
        if (start < 0 or @as(usize, @intCast(start)) + size > element.len) return;
        const window = @constCast(element[@intCast(start)..]);
        switch (self.kind) {
            .le => std.mem.writeInt(u32, window[0..4], w, .little),
            .be => std.mem.writeInt(u32, window[0..4], w, .big),
            .le16 => std.mem.writeInt(u16, window[0..2], @intCast(w >> 16), .little),
            .digits => octal(window[0..8], w),
        }
    }
};

/// An operation: `parse(arena, item) !T` is untimed, `call(*const T, *Sink) !void` is timed.
pub fn op(comptime id: []const u8, comptime T: type, comptime parse: fn (Allocator, []const u8) anyerror!T, comptime call: fn (*const T, *Sink) anyerror!void) Op {
    return build(id, T, parse, call, 0, "", null);
}

/// `op` on items that consist of elements of `size` bytes.
pub fn rows(comptime id: []const u8, comptime size: usize, comptime call: fn (*const []const u8, *Sink) anyerror!void) Op {
    return build(id, []const u8, same, call, size, "", null);
}

/// `op` with the change of a parsed item for one rule: `change(item, x)`; element i gets `word(x, i)`.
pub fn opChanging(comptime id: []const u8, comptime T: type, comptime parse: fn (Allocator, []const u8) anyerror!T, comptime call: fn (*const T, *Sink) anyerror!void, comptime rule: []const u8, comptime change: fn (*T, u32) void) Op {
    return build(id, T, parse, call, 0, rule, change);
}

fn build(comptime id: []const u8, comptime T: type, comptime parse: fn (Allocator, []const u8) anyerror!T, comptime call: fn (*const T, *Sink) anyerror!void, comptime size: usize, comptime own_rule: []const u8, comptime own: ?fn (*T, u32) void) Op {
    const Impl = struct {
        const State = struct { list: []T, rule: ?Rule, own: bool };

        fn prepare(arena: Allocator, raw: []const []const u8, text: []const u8) anyerror!Batch {
            const list = try arena.alloc(T, raw.len);
            for (raw, list) |item, *slot| slot.* = try parse(arena, item);
            const state = try arena.create(State);
            state.* = .{ .list = list, .rule = null, .own = own != null and std.mem.eql(u8, text, own_rule) };
            const none = std.mem.eql(u8, text, "none");
            const bytes = T == []const u8 or T == []const []const u8;
            if (!none and !state.own) {
                const rule = try Rule.parse(text);
                if (bytes) state.rule = rule;
            }
            return .{ .state = @ptrCast(state), .items = list.len, .changes = none or state.own or bytes, .runFn = run };
        }

        inline fn change(state: *State, item: *T, x: u32) void {
            if (own) |f| if (state.own) return f(item, x);
            const rule = state.rule orelse return;
            if (T == []const []const u8) {
                for (item.*, 0..) |element, i| rule.apply(element, word(x, i));
            } else if (T == []const u8) {
                if (size == 0) return rule.apply(item.*, x);
                for (0..item.len / size) |i| rule.apply(item.*[size * i ..][0..size], word(x, i));
            }
        }

        // Makes n calls on consecutive items, starting at `first` and wrapping around.
        fn run(opaque_state: *anyopaque, first: usize, n: usize, seed: u32, sink: *Sink) anyerror!void {
            const state: *State = @ptrCast(@alignCast(opaque_state));
            var at = first;
            var x = seed;
            for (0..n) |_| {
                x = x *% 747796405 +% 2891336453;
                const item = &state.list[at];
                change(state, item, x);
                std.mem.doNotOptimizeAway(item); // the inputs are opaque to the optimiser
                try call(item, sink);
                at += 1;
                if (at == state.list.len) at = 0;
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

/// The items of a blobs file.
fn blobs(arena: Allocator, file: []const u8) ![]const []const u8 {
    var data = file;
    var list: std.ArrayList([]const u8) = .empty;
    while (data.len > 0) try list.append(arena, lp(&data));
    return list.items;
}

/// The operation and items prepared last.
const Prepared = struct {
    entry: Op,
    /// The file as read. Batches change a copy.
    file: []const u8,
    batch: Batch,

    fn parse(arena: Allocator, entry: Op, file: []const u8, rule: []const u8) !Batch {
        return entry.prepare(arena, try blobs(arena, try arena.dupe(u8, file)), rule);
    }
};

// CLOCK_BOOTTIME on Linux, like std.time.Timer of Zig 0.15, so that times compare with earlier records.
const clock: std.Io.Clock = .boot;

/// Serves the driver's requests until `quit` or the end of input.
pub fn serve(name: []const u8, version: []const u8, ops: []const Op) !void {
    const gpa = std.heap.smp_allocator;
    // A row runs on one thread, so the I/O must not start others.
    var threaded: std.Io.Threaded = .init_single_threaded;
    const io = threaded.io();
    var arena_state = std.heap.ArenaAllocator.init(gpa);
    var in_buffer: [4096]u8 = undefined;
    var out_buffer: [16384]u8 = undefined;
    var in = std.Io.File.stdin().reader(io, &in_buffer);
    var out_file = std.Io.File.stdout().writer(io, &out_buffer);
    const out = &out_file.interface;
    var prepared: ?Prepared = null;
    while (in.interface.takeDelimiterInclusive('\n')) |line| {
        var words = std.mem.tokenizeAny(u8, line, " \r\n");
        const command = words.next() orelse continue;
        const first = words.next() orelse "";
        const second = words.next() orelse "";
        const third = words.next() orelse "none";
        if (std.mem.eql(u8, command, "quit")) return;
        if (std.mem.eql(u8, command, "describe")) {
            try out.print("{{\"arena\":1,\"name\":\"{s}\",\"version\":\"{s}\",\"runtime\":\"Zig {s}\",\"threads\":1,\"ops\":[", .{ name, version, @import("builtin").zig_version_string });
            for (ops, 0..) |entry, i| try out.print("{s}\"{s}\"", .{ if (i == 0) "" else ",", entry.id });
            try out.writeAll("]}\n");
        } else {
            answer(io, gpa, &arena_state, ops, &prepared, out, command, first, second, third) catch |err|
                try out.print("{{\"arena\":1,\"err\":\"rejected\",\"msg\":\"{s}\"}}\n", .{@errorName(err)});
        }
        try out.flush();
    } else |err| if (err != error.EndOfStream) return err;
}

fn answer(io: std.Io, gpa: Allocator, arena: *std.heap.ArenaAllocator, ops: []const Op, current: *?Prepared, out: *std.Io.Writer, command: []const u8, first: []const u8, second: []const u8, third: []const u8) !void {
    if (std.mem.eql(u8, command, "prepare")) {
        for (ops) |entry| if (std.mem.eql(u8, entry.id, first)) {
            _ = arena.reset(.retain_capacity);
            current.* = null;
            const file = try std.Io.Dir.cwd().readFileAlloc(io, second, arena.allocator(), .limited(1 << 30));
            const batch = try Prepared.parse(arena.allocator(), entry, file, third);
            current.* = .{ .entry = entry, .file = file, .batch = batch };
            return out.print("{{\"arena\":1,\"ok\":true,\"items\":{d},\"changes\":{}}}\n", .{ batch.items, batch.changes });
        };
        return out.print("{{\"arena\":1,\"err\":\"unsupported\",\"msg\":\"{s}\"}}\n", .{first});
    }
    if (std.mem.eql(u8, command, "verify")) {
        const prepared = current.* orelse return error.NothingPrepared;
        const batch = try Prepared.parse(arena.allocator(), prepared.entry, prepared.file, "none");
        const file = try std.Io.Dir.cwd().createFile(io, first, .{});
        defer file.close(io);
        var list: std.ArrayList(u8) = .empty;
        defer list.deinit(gpa);
        for (0..batch.items) |i| {
            list.clearRetainingCapacity();
            var sink = Sink{ .collected = &list, .gpa = gpa };
            try batch.runFn(batch.state, i, 1, 0, &sink);
            var size: [4]u8 = undefined;
            std.mem.writeInt(u32, &size, @intCast(list.items.len), .little);
            try file.writeStreamingAll(io, &size);
            try file.writeStreamingAll(io, list.items);
        }
        return out.writeAll("{\"arena\":1,\"ok\":true}\n");
    }
    if (std.mem.eql(u8, command, "run")) {
        const batch = (current.* orelse return error.NothingPrepared).batch;
        const n = try std.fmt.parseInt(usize, first, 10);
        const seed = if (second.len == 0) 0 else try std.fmt.parseInt(u32, second, 10);
        var sink = Sink{ .gpa = gpa };
        const start = clock.now(io);
        try batch.runFn(batch.state, 0, n, seed, &sink);
        return out.print("{{\"arena\":1,\"n\":{d},\"ns\":{d},\"acc\":\"{x:0>16}\"}}\n", .{ n, start.untilNow(io, clock).nanoseconds, sink.acc });
    }
    if (std.mem.eql(u8, command, "noop")) {
        const n = try std.fmt.parseInt(usize, first, 10);
        const start = clock.now(io);
        for (0..n) |i| std.mem.doNotOptimizeAway(i);
        return out.print("{{\"arena\":1,\"n\":{d},\"ns\":{d}}}\n", .{ n, start.untilNow(io, clock).nanoseconds });
    }
    if (std.mem.eql(u8, command, "gc")) return out.writeAll("{\"arena\":1,\"ok\":true}\n");
    return out.print("{{\"arena\":1,\"err\":\"unsupported\",\"msg\":\"{s}\"}}\n", .{command});
}

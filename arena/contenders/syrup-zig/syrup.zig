//! Canonical Syrup: a strict reference codec in plain Zig.
//!
//! `encode` writes the canonical form of a value to the caller's buffer. `decode` accepts a single canonical value
//! without trailing bytes and fails on anything else. Decoded strings borrow from the input, lists are allocated with
//! the caller's allocator (an arena that is reset between messages). Source: Syrup draft (2023-12), OCapN Model and
//! Notation (2026-07).

const std = @import("std");
const Allocator = std.mem.Allocator;

pub const max_depth = 256;

pub const DecodeError = error{ EndOfInput, NotCanonical, Invalid, TooDeep, TrailingBytes, OutOfMemory };
pub const EncodeError = error{ NoSpaceLeft, DuplicateKey, OutOfMemory };

pub const Entry = struct { key: Value, value: Value };

pub const Value = union(enum) {
    boolean: bool,
    /// An integer of at most 64 bits with its sign.
    integer: struct { negative: bool, magnitude: u64 },
    /// A larger one as its digits.
    big: struct { negative: bool, digits: []const u8 },
    double: f64,
    single: f32,
    bytes: []const u8,
    string: []const u8,
    symbol: []const u8,
    list: []const Value,
    /// Entries in any order; encoded in ascending order of their keys' encodings.
    dictionary: []const Entry,
    set: []const Value,
    record: struct { label: *const Value, fields: []const Value },

    pub fn int(number: i64) Value {
        return .{ .integer = .{ .negative = number < 0, .magnitude = @abs(number) } };
    }
};

const nan64: u64 = 0x7ff8_0000_0000_0000;
const nan32: u32 = 0x7fc0_0000;

/// Writes encodings into a buffer.
pub const Encoder = struct {
    buffer: []u8,
    /// Only used for unsorted dictionaries and sets.
    scratch: Allocator,
    len: usize = 0,

    pub fn written(self: *const Encoder) []const u8 {
        return self.buffer[0..self.len];
    }

    pub inline fn byte(self: *Encoder, one: u8) EncodeError!void {
        if (self.len == self.buffer.len) return error.NoSpaceLeft;
        self.buffer[self.len] = one;
        self.len += 1;
    }

    pub inline fn raw(self: *Encoder, data: []const u8) EncodeError!void {
        if (data.len > self.buffer.len - self.len) return error.NoSpaceLeft;
        @memcpy(self.buffer[self.len..][0..data.len], data);
        self.len += data.len;
    }

    /// Writes a decimal number and the type mark after it.
    pub inline fn number(self: *Encoder, magnitude: u64, mark: u8) EncodeError!void {
        if (magnitude < 10) {
            if (self.buffer.len - self.len < 2) return error.NoSpaceLeft;
            self.buffer[self.len] = '0' + @as(u8, @intCast(magnitude));
            self.buffer[self.len + 1] = mark;
            self.len += 2;
            return;
        }
        var digits: [21]u8 = undefined;
        var at: usize = 20;
        digits[20] = mark;
        var rest = magnitude;
        while (rest >= 100) {
            at -= 2;
            digits[at..][0..2].* = std.fmt.digits2(@intCast(rest % 100));
            rest /= 100;
        }
        if (rest >= 10) {
            at -= 2;
            digits[at..][0..2].* = std.fmt.digits2(@intCast(rest));
        } else {
            at -= 1;
            digits[at] = '0' + @as(u8, @intCast(rest));
        }
        try self.raw(digits[at..]);
    }

    pub inline fn text(self: *Encoder, data: []const u8, mark: u8) EncodeError!void {
        try self.number(data.len, mark);
        try self.raw(data);
    }

    pub fn value(self: *Encoder, tree: *const Value) EncodeError!void {
        switch (tree.*) {
            .boolean => |b| try self.byte(if (b) 't' else 'f'),
            .integer => |i| try self.number(i.magnitude, if (i.negative) '-' else '+'),
            .big => |b| {
                try self.raw(b.digits);
                try self.byte(if (b.negative) '-' else '+');
            },
            .double => |d| {
                const bits: u64 = if (std.math.isNan(d)) nan64 else @bitCast(d);
                try self.byte('D');
                try self.raw(&std.mem.toBytes(std.mem.nativeToBig(u64, bits)));
            },
            .single => |s| {
                const bits: u32 = if (std.math.isNan(s)) nan32 else @bitCast(s);
                try self.byte('F');
                try self.raw(&std.mem.toBytes(std.mem.nativeToBig(u32, bits)));
            },
            .bytes => |data| try self.text(data, ':'),
            .string => |data| try self.text(data, '"'),
            .symbol => |data| try self.text(data, '\''),
            .list => |items| {
                try self.byte('[');
                for (items) |*item| try self.value(item);
                try self.byte(']');
            },
            .record => |record| {
                try self.byte('<');
                try self.value(record.label);
                for (record.fields) |*field| try self.value(field);
                try self.byte('>');
            },
            .dictionary => |entries| {
                try self.byte('{');
                try self.ascending(Entry, entries);
                try self.byte('}');
            },
            .set => |items| {
                try self.byte('#');
                try self.ascending(Value, items);
                try self.byte('$');
            },
        }
    }

    /// Writes an entry of a dictionary or an element of a set and returns its key's bytes.
    inline fn entry(self: *Encoder, comptime T: type, item: *const T) EncodeError![]const u8 {
        const start = self.len;
        try self.value(if (T == Entry) &item.key else item);
        const key = self.buffer[start..self.len];
        if (T == Entry) try self.value(&item.value);
        return key;
    }

    fn ascending(self: *Encoder, comptime T: type, items: []const T) EncodeError!void {
        const start = self.len;
        var last: []const u8 = "";
        for (items) |*item| {
            const key = try self.entry(T, item);
            if (!below(last, key)) {
                self.len = start;
                return self.sorted(T, items);
            }
            last = key;
        }
    }

    /// The slow path, for unsorted items.
    fn sorted(self: *Encoder, comptime T: type, items: []const T) EncodeError!void {
        const Span = struct {
            key: []const u8,
            whole: []const u8,
            fn less(_: void, a: @This(), b: @This()) bool {
                return below(a.key, b.key);
            }
        };
        const start = self.len;
        const spans = try self.scratch.alloc(Span, items.len);
        defer self.scratch.free(spans);
        for (items, spans) |*item, *span| {
            const begin = self.len;
            span.key = try self.entry(T, item);
            span.whole = self.buffer[begin..self.len];
        }
        std.mem.sortUnstable(Span, spans, {}, Span.less);
        const copy = try self.scratch.alloc(u8, self.len - start);
        defer self.scratch.free(copy);
        var at: usize = 0;
        for (spans, 0..) |span, i| {
            if (i > 0 and !below(spans[i - 1].key, span.key)) return error.DuplicateKey;
            @memcpy(copy[at..][0..span.whole.len], span.whole);
            at += span.whole.len;
        }
        @memcpy(self.buffer[start..self.len], copy);
    }
};

inline fn below(a: []const u8, b: []const u8) bool {
    return std.mem.order(u8, a, b) == .lt;
}

/// Writes the canonical encoding of a value to `buffer`; `scratch` is only used for unsorted dictionaries and sets.
pub fn encode(tree: *const Value, buffer: []u8, scratch: Allocator) EncodeError![]const u8 {
    var encoder = Encoder{ .buffer = buffer, .scratch = scratch };
    try encoder.value(tree);
    return encoder.written();
}

/// Decodes a single canonical value. Strings borrow from `data` unless `own`; lists are allocated in `arena`. `stack`
/// is memory for the decoder, reused between calls.
pub fn decode(data: []const u8, arena: Allocator, stack: *std.ArrayList(Value), gpa: Allocator, comptime own: bool) DecodeError!Value {
    stack.clearRetainingCapacity();
    var decoder = Decoder{ .data = data };
    const tree = try decoder.value(.{ .arena = arena, .stack = stack, .gpa = gpa }, own, 0);
    try decoder.end();
    return tree;
}

/// A cursor over an encoding; `at` is the offset of an error.
pub const Decoder = struct {
    data: []const u8,
    at: usize = 0,

    pub const Memory = struct { arena: Allocator, stack: *std.ArrayList(Value), gpa: Allocator };

    inline fn peek(self: *const Decoder) DecodeError!u8 {
        if (self.at == self.data.len) return error.EndOfInput;
        return self.data[self.at];
    }

    inline fn take(self: *Decoder, len: usize) DecodeError![]const u8 {
        if (len > self.data.len - self.at) return error.EndOfInput;
        defer self.at += len;
        return self.data[self.at..][0..len];
    }

    /// Reads exactly these bytes; does not advance if they differ.
    pub inline fn literal(self: *Decoder, comptime want: []const u8) DecodeError!void {
        if (want.len > self.data.len - self.at) return error.EndOfInput;
        if (!std.mem.eql(u8, self.data[self.at..][0..want.len], want)) return error.Invalid;
        self.at += want.len;
    }

    pub fn end(self: *const Decoder) DecodeError!void {
        if (self.at != self.data.len) return error.TrailingBytes;
    }

    const Number = struct { value: u64, big: bool, digits: []const u8, mark: u8 };

    /// Reads digits without leading zeros, and the type mark after them.
    pub inline fn number(self: *Decoder) DecodeError!Number {
        const start = self.at;
        var at = start;
        var total: u64 = 0;
        while (true) : (at += 1) {
            if (at == self.data.len) return error.EndOfInput;
            const digit = self.data[at] -% '0';
            if (digit > 9) break;
            total = total *% 10 +% digit;
        }
        const digits = self.data[start..at];
        if (digits.len == 0) return error.Invalid;
        if (digits.len > 1 and digits[0] == '0') return error.NotCanonical;
        self.at = at + 1;
        var big = false;
        if (digits.len > 19) {
            if (std.fmt.parseInt(u64, digits, 10)) |exact| {
                total = exact;
            } else |_| big = true;
        }
        return .{ .value = total, .big = big, .digits = digits, .mark = self.data[at] };
    }

    /// Reads an integer that fits an i64.
    pub inline fn int(self: *Decoder) DecodeError!i64 {
        const n = try self.number();
        if (n.big or n.value > std.math.maxInt(i64)) return error.Invalid;
        if (n.mark == '+') return @intCast(n.value);
        if (n.mark != '-' or n.value == 0) return error.Invalid;
        return -@as(i64, @intCast(n.value));
    }

    /// Reads a string, symbol or byte string with this mark.
    pub inline fn text(self: *Decoder, mark: u8) DecodeError![]const u8 {
        const n = try self.number();
        if (n.mark != mark) return error.Invalid;
        return self.content(n);
    }

    inline fn content(self: *Decoder, n: Number) DecodeError![]const u8 {
        if (n.big) return error.EndOfInput;
        const bytes = try self.take(n.value);
        if (n.mark != ':' and !isUtf8(bytes)) return error.Invalid;
        return bytes;
    }

    pub fn value(self: *Decoder, memory: Memory, comptime own: bool, depth: usize) DecodeError!Value {
        const first = try self.peek();
        switch (first) {
            '0'...'9' => {
                const n = try self.number();
                switch (n.mark) {
                    '+', '-' => {
                        if (n.mark == '-' and n.digits[0] == '0') return error.NotCanonical;
                        if (n.big) return .{ .big = .{ .negative = n.mark == '-', .digits = if (own) try memory.arena.dupe(u8, n.digits) else n.digits } };
                        return .{ .integer = .{ .negative = n.mark == '-', .magnitude = n.value } };
                    },
                    ':', '"', '\'' => {
                        const borrowed = try self.content(n);
                        const bytes = if (own) try memory.arena.dupe(u8, borrowed) else borrowed;
                        return switch (n.mark) {
                            ':' => .{ .bytes = bytes },
                            '"' => .{ .string = bytes },
                            else => .{ .symbol = bytes },
                        };
                    },
                    else => return error.Invalid,
                }
            },
            't', 'f' => {
                self.at += 1;
                return .{ .boolean = first == 't' };
            },
            'D' => {
                self.at += 1;
                const bits = std.mem.readInt(u64, (try self.take(8))[0..8], .big);
                const double: f64 = @bitCast(bits);
                if (std.math.isNan(double) and bits != nan64) return error.NotCanonical;
                return .{ .double = double };
            },
            'F' => {
                self.at += 1;
                const bits = std.mem.readInt(u32, (try self.take(4))[0..4], .big);
                const single: f32 = @bitCast(bits);
                if (std.math.isNan(single) and bits != nan32) return error.NotCanonical;
                return .{ .single = single };
            },
            '[', '<', '#', '{' => {},
            else => return error.Invalid,
        }
        if (depth == max_depth) return error.TooDeep;
        self.at += 1;
        const base = memory.stack.items.len;
        defer memory.stack.shrinkRetainingCapacity(base);
        const close: u8 = switch (first) {
            '[' => ']',
            '<' => '>',
            '#' => '$',
            else => '}',
        };
        var last: []const u8 = "";
        while (try self.peek() != close) {
            const start = self.at;
            try memory.stack.append(memory.gpa, try self.value(memory, own, depth + 1));
            if (first == '{' or first == '#') {
                const key = self.data[start..self.at];
                if (!below(last, key)) return error.NotCanonical;
                last = key;
            }
            if (first == '{') try memory.stack.append(memory.gpa, try self.value(memory, own, depth + 1));
        }
        self.at += 1;
        const children = memory.stack.items[base..];
        switch (first) {
            '[' => return .{ .list = try memory.arena.dupe(Value, children) },
            '#' => return .{ .set = try memory.arena.dupe(Value, children) },
            '<' => {
                if (children.len == 0) return error.Invalid;
                const copy = try memory.arena.dupe(Value, children);
                return .{ .record = .{ .label = &copy[0], .fields = copy[1..] } };
            },
            else => {
                const entries = try memory.arena.alloc(Entry, children.len / 2);
                for (entries, 0..) |*slot, i| slot.* = .{ .key = children[2 * i], .value = children[2 * i + 1] };
                return .{ .dictionary = entries };
            },
        }
    }
};

inline fn isUtf8(bytes: []const u8) bool {
    for (bytes) |byte| if (byte >= 0x80) return std.unicode.utf8ValidateSlice(bytes);
    return true;
}

/// Encodes a struct as a dictionary with the fields' names as keys, in canonical order computed at compile time. Fields
/// may be bool, i64 or []const u8 (a string).
pub fn encodeStruct(comptime T: type, it: *const T, encoder: *Encoder) EncodeError!void {
    inline for (comptime sortedFields(T), 0..) |field, i| {
        try encoder.raw((if (i == 0) "{" else "") ++ comptime keyOf(field.name));
        const member = @field(it, field.name);
        switch (field.type) {
            bool => try encoder.byte(if (member) 't' else 'f'),
            i64 => try encoder.number(@abs(member), if (member < 0) '-' else '+'),
            []const u8 => try encoder.text(member, '"'),
            else => @compileError("no Syrup form of " ++ @typeName(field.type)),
        }
    }
    try encoder.byte('}');
}

/// The inverse of `encodeStruct`; strings borrow from the input.
pub fn decodeStruct(comptime T: type, decoder: *Decoder) DecodeError!T {
    var it: T = undefined;
    inline for (comptime sortedFields(T), 0..) |field, i| {
        try decoder.literal((if (i == 0) "{" else "") ++ comptime keyOf(field.name));
        @field(it, field.name) = switch (field.type) {
            bool => switch ((try decoder.take(1))[0]) {
                't' => true,
                'f' => false,
                else => return error.Invalid,
            },
            i64 => try decoder.int(),
            []const u8 => try decoder.text('"'),
            else => @compileError("no Syrup form of " ++ @typeName(field.type)),
        };
    }
    try decoder.literal("}");
    return it;
}

fn keyOf(comptime name: []const u8) []const u8 {
    return std.fmt.comptimePrint("{d}\"{s}", .{ name.len, name });
}

const Field = struct { name: []const u8, type: type };

fn sortedFields(comptime T: type) [@typeInfo(T).@"struct".field_names.len]Field {
    const info = @typeInfo(T).@"struct";
    var fields: [info.field_names.len]Field = undefined;
    for (&fields, info.field_names, info.field_types) |*field, name, t| field.* = .{ .name = name, .type = t };
    std.mem.sort(Field, &fields, {}, struct {
        fn less(_: void, comptime a: Field, comptime b: Field) bool {
            return below(keyOf(a.name), keyOf(b.name));
        }
    }.less);
    return fields;
}

/// Messages from a stream of `length:payload` that arrives in pieces; payloads are at most `cap` bytes.
pub const Frames = struct {
    cap: usize,
    pending: std.ArrayList(u8) = .empty,
    at: usize = 0,

    pub fn feed(self: *Frames, gpa: Allocator, piece: []const u8) Allocator.Error!void {
        std.mem.copyForwards(u8, self.pending.items, self.pending.items[self.at..]);
        self.pending.shrinkRetainingCapacity(self.pending.items.len - self.at);
        self.at = 0;
        try self.pending.appendSlice(gpa, piece);
    }

    /// The next complete payload; valid until the next `feed`.
    pub fn next(self: *Frames) DecodeError!?[]const u8 {
        var decoder = Decoder{ .data = self.pending.items, .at = self.at };
        const n = decoder.number() catch |err| switch (err) {
            error.EndOfInput => return null,
            else => return err,
        };
        if (n.mark != ':' or n.big or n.value > self.cap) return error.Invalid;
        const payload = decoder.take(n.value) catch return null;
        self.at = decoder.at;
        return payload;
    }
};

//! An arena for one thread: memory that is freed, or kept for reuse, all at once.
//!
//! It stands in for std.heap.ArenaAllocator, whose allocations are atomic operations in Zig 0.17. Blocks grow like
//! those of the arena of Zig 0.15.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Alignment = std.mem.Alignment;
const Arena = @This();

child: Allocator,
/// The block in use; it points to the full ones.
current: ?*Block = null,
/// The number of bytes in use after the header of the current block.
used: usize = 0,

const Block = struct {
    /// In bytes, including this header.
    size: usize,
    next: ?*Block,

    fn memory(self: *Block) []u8 {
        return @as([*]u8, @ptrCast(self))[0..self.size];
    }
};

pub fn init(child: Allocator) Arena {
    return .{ .child = child };
}

pub fn deinit(self: Arena) void {
    var next = self.current;
    while (next) |block| {
        next = block.next; // read before the block is freed
        self.free(block);
    }
}

pub fn allocator(self: *Arena) Allocator {
    return .{ .ptr = self, .vtable = &.{
        .alloc = alloc,
        .resize = Allocator.noResize,
        .remap = Allocator.noRemap,
        .free = Allocator.noFree,
    } };
}

/// Invalidates all allocations and keeps one block that is large enough for them.
pub fn reset(self: *Arena) void {
    var capacity: usize = 0;
    var next = self.current;
    while (next) |block| : (next = block.next) capacity += block.size - @sizeOf(Block);
    self.used = 0;
    while (self.current) |block| {
        if (block.next == null) break;
        self.current = block.next;
        self.free(block);
    }
    const block = self.current orelse return;
    const size = @sizeOf(Block) + capacity;
    if (block.size == size) return;
    if (self.child.rawResize(block.memory(), .of(Block), size, @returnAddress())) {
        block.size = size;
    } else if (self.create(size, null)) |larger| {
        self.free(block);
        self.current = larger;
    }
}

fn create(self: *const Arena, size: usize, next: ?*Block) ?*Block {
    const bytes = self.child.rawAlloc(size, .of(Block), @returnAddress()) orelse return null;
    const block: *Block = @ptrCast(@alignCast(bytes));
    block.* = .{ .size = size, .next = next };
    return block;
}

fn free(self: *const Arena, block: *Block) void {
    self.child.rawFree(block.memory(), .of(Block), @returnAddress());
}

/// Adds a block for an allocation of at most `needed` bytes.
fn grow(self: *Arena, needed: usize) ?*Block {
    const last = if (self.current) |block| block.size - @sizeOf(Block) else 0;
    const size = last + needed + @sizeOf(Block) + 16;
    self.current = self.create(size + size / 2, self.current) orelse return null;
    self.used = 0;
    return self.current;
}

fn alloc(context: *anyopaque, len: usize, alignment: Alignment, _: usize) ?[*]u8 {
    const self: *Arena = @ptrCast(@alignCast(context));
    const needed = len + alignment.toByteUnits();
    var block = self.current orelse self.grow(needed) orelse return null;
    while (true) {
        const start = @intFromPtr(block) + @sizeOf(Block);
        const at = alignment.forward(start + self.used) - start;
        const size = @sizeOf(Block) + at + len;
        if (size <= block.size) {
            self.used = at + len;
            return block.memory()[@sizeOf(Block) + at ..].ptr;
        }
        if (self.child.rawResize(block.memory(), .of(Block), size, @returnAddress())) {
            block.size = size;
        } else {
            block = self.grow(needed) orelse return null;
        }
    }
}

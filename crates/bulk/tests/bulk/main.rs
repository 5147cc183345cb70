//! Files in, files out. One program, because each that uses Parquet takes long to compile.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod files;
mod hostile;
mod real_files;
mod resume;
mod streams;

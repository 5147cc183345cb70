//! Arrow IPC streams. An IPC file contains such a stream after its magic number, so it is read in the same way, except
//! that the stream must have its end.

use std::io::Read;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::{Message, convert::fb_to_schema, reader::StreamDecoder, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use crate::error::ErrorKind;

/// Bytes of the metadata of a message. That of 100,000 columns is shorter.
const MAX_METADATA: u64 = 1 << 26;
/// Bytes of a message without its metadata, compressed and uncompressed.
const MAX_BODY: u64 = 1 << 30;
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The end of a stream.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Reads the record batches of a stream. Memory is allocated as bytes arrive, whatever length a message declares.
pub(crate) struct Reader {
    source: Box<dyn Read + Send>,
    decoder: StreamDecoder,
    schema: SchemaRef,
    /// Bytes read but not decoded.
    buffer: Buffer,
    /// Whether the stream is part of a file.
    in_file: bool,
    ended: bool,
}

impl Reader {
    /// Reads the schema. A stream in a file must have an end marker; another one may end after any message.
    pub(crate) fn new(mut source: Box<dyn Read + Send>, in_file: bool) -> Result<Self, ErrorKind> {
        let invalid = || ErrorKind::Arrow(ArrowError::IpcError("no schema".into()));
        let buffer = message(&mut source, in_file)?.ok_or_else(invalid)?;
        let schema = metadata(&buffer)?.header_as_schema().ok_or_else(invalid)?;
        Ok(Self {
            schema: fb_to_schema(schema).into(),
            source,
            decoder: StreamDecoder::new(),
            buffer,
            in_file,
            ended: false,
        })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Reads the next batch; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, ErrorKind> {
        loop {
            if let Some(batch) = self.decoder.decode(&mut self.buffer)? {
                return Ok(Some(batch));
            }
            if self.ended {
                return Ok(None);
            }
            self.buffer = match message(&mut self.source, self.in_file)? {
                Some(message) => message,
                None => {
                    self.ended = true;
                    Buffer::from(END.as_slice())
                }
            };
        }
    }
}

/// Reads a message: its length, metadata and body. `None` at the end of the stream, which must be marked in a file.
fn message(source: &mut dyn Read, in_file: bool) -> Result<Option<Buffer>, ErrorKind> {
    let mut bytes = Vec::new();
    append(source, 4, &mut bytes)?;
    if bytes.is_empty() && !in_file {
        return Ok(None);
    }
    if bytes == CONTINUATION {
        append(source, 4, &mut bytes)?;
    }
    let length = match bytes.last_chunk() {
        Some(length) if bytes.len() % 4 == 0 => u64::from(u32::from_le_bytes(*length)),
        _ => return Err(truncated()),
    };
    if length == 0 {
        return Ok(None);
    }
    limit("metadata", length, MAX_METADATA)?;
    let start = bytes.len();
    if append(source, length, &mut bytes)? != length {
        return Err(truncated());
    }
    let body = {
        let message = parse(&bytes[start..])?;
        u64::try_from(message.bodyLength()).unwrap_or(u64::MAX)
    };
    limit("body", body, MAX_BODY)?;
    let start_of_body = bytes.len();
    if append(source, body, &mut bytes)? != body {
        return Err(truncated());
    }
    check_compressed(&parse(&bytes[start..])?, &bytes[start_of_body..])?;
    Ok(Some(Buffer::from_vec(bytes)))
}

/// Reads at most `length` bytes, and returns the number.
fn append(source: &mut dyn Read, length: u64, bytes: &mut Vec<u8>) -> Result<u64, ErrorKind> {
    Ok(source.take(length).read_to_end(bytes)? as u64)
}

fn parse(metadata: &[u8]) -> Result<Message<'_>, ErrorKind> {
    let invalid = |error| ArrowError::IpcError(format!("invalid message: {error}"));
    Ok(root_as_message(metadata).map_err(invalid)?)
}

/// Parses the metadata of a message read by [`message`].
fn metadata(message: &[u8]) -> Result<Message<'_>, ErrorKind> {
    let prefix = if message.starts_with(&CONTINUATION) {
        8
    } else {
        4
    };
    parse(message.get(prefix..).unwrap_or_default())
}

/// Checks the lengths that compressed buffers declare, since they are allocated before decompression.
fn check_compressed(message: &Message<'_>, body: &[u8]) -> Result<(), ErrorKind> {
    let batch = message.header_as_record_batch();
    let dictionary = || message.header_as_dictionary_batch()?.data();
    let Some(batch) = batch.or_else(dictionary) else {
        return Ok(());
    };
    let (Some(_), Some(buffers)) = (batch.compression(), batch.buffers()) else {
        return Ok(());
    };
    let mut total: u64 = 0;
    for buffer in buffers {
        let start = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let length = body.get(start..).and_then(<[u8]>::first_chunk);
        let length = length.map_or(0, |length| i64::from_le_bytes(*length));
        // -1 means that the buffer is not compressed.
        total = total.saturating_add(u64::try_from(length).unwrap_or_default());
    }
    limit("uncompressed body", total, MAX_BODY)
}

fn limit(what: &str, found: u64, most: u64) -> Result<(), ErrorKind> {
    if found > most {
        let text = format!("{what} of a message: expected at most {most} bytes, found {found}");
        return Err(ErrorKind::Arrow(ArrowError::IpcError(text)));
    }
    Ok(())
}

fn truncated() -> ErrorKind {
    ErrorKind::Arrow(ArrowError::IpcError(
        "the stream ends within a message, or without an end marker in a file".into(),
    ))
}

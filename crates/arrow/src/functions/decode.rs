//! Logs, calls and transactions.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, FixedSizeBinaryArray};
use arrow_schema::DataType;

use super::{
    Computed, Form, Function,
    Parameter::{Any, Bytes, List, Literal, Several},
    computed,
};
use crate::{
    ByteColumn, CallDecoder, Error, EventDecoder, Logs, Options, TypeDecoder, Uint256Format,
    decode_transactions, encode_calls, encode_values, hashes, senders, transaction_fields,
};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "evm_decode_log",
        aliases: &[],
        forms: &[
            Form {
                parameters: &[
                    Bytes("topic0"),
                    Bytes("topic1"),
                    Bytes("topic2"),
                    Bytes("topic3"),
                    Bytes("data"),
                    Literal("signature"),
                ],
                kernel: |columns, signature| log(&columns[..4], &columns[4], &event(signature)?),
            },
            Form {
                parameters: &[
                    Bytes("topic1"),
                    Bytes("topic2"),
                    Bytes("topic3"),
                    Bytes("data"),
                    Literal("signature"),
                ],
                kernel: log_without_first_topic,
            },
            Form {
                parameters: &[List("topics"), Bytes("data"), Literal("signature")],
                kernel: |columns, signature| {
                    let data = ByteColumn::try_new(&columns[1])?;
                    let logs = Logs::with_topic_list(&columns[0], data)?;
                    Ok(computed(event(signature)?.decode_all(&logs)))
                },
            },
        ],
        result: |signature| Ok(DataType::Struct(event(signature)?.fields().to_vec().into())),
    },
    Function {
        name: "evm_decode_params",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("input"), Literal("signature")],
            kernel: |columns, signature| {
                let input = ByteColumn::try_new(&columns[0])?;
                Ok(computed(call(signature)?.decode_all(&input)))
            },
        }],
        result: |signature| Ok(DataType::Struct(call(signature)?.fields().to_vec().into())),
    },
    Function {
        name: "evm_decode_output",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("output"), Literal("signature")],
            kernel: |columns, signature| {
                let output = ByteColumn::try_new(&columns[0])?;
                Ok(computed(call(signature)?.decode_all_results(&output)))
            },
        }],
        result: |signature| {
            let fields = call(signature)?.result_fields().to_vec();
            Ok(DataType::Struct(fields.into()))
        },
    },
    Function {
        name: "evm_decode_type",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("data"), Literal("type")],
            kernel: |columns, ty| {
                let decoder = TypeDecoder::parse(ty, Uint256Format::Binary)?;
                Ok(decoder.decode(&ByteColumn::try_new(&columns[0])?))
            },
        }],
        result: |ty| {
            let decoder = TypeDecoder::parse(ty, Uint256Format::Binary)?;
            Ok(decoder.field().data_type().clone())
        },
    },
    Function {
        name: "evm_encode_params",
        aliases: &[],
        forms: &[Form {
            parameters: &[Several("values"), Literal("signature")],
            kernel: |columns, signature| {
                Ok(computed(encode_calls(columns, call(signature)?.codec())?))
            },
        }],
        result: |signature| call(signature).map(|_| DataType::Binary),
    },
    Function {
        name: "evm_encode_type",
        aliases: &[],
        forms: &[Form {
            parameters: &[Any("value"), Literal("type")],
            kernel: |columns, ty| Ok(computed(encode_values(&columns[0], ty)?)),
        }],
        result: |ty| {
            TypeDecoder::parse(ty, Uint256Format::Binary)?;
            Ok(DataType::Binary)
        },
    },
    Function {
        name: "evm_topic",
        aliases: &[],
        forms: &[Form {
            parameters: &[Literal("signature")],
            kernel: |_, signature| {
                let topic = event(signature)?.codec().topic().0;
                Ok((constant(&topic), Vec::new()))
            },
        }],
        result: |signature| event(signature).map(|_| DataType::FixedSizeBinary(32)),
    },
    Function {
        name: "evm_selector",
        aliases: &[],
        forms: &[Form {
            parameters: &[Literal("signature")],
            kernel: |_, signature| {
                let selector = call(signature)?.codec().selector();
                Ok((constant(&selector), Vec::new()))
            },
        }],
        result: |signature| call(signature).map(|_| DataType::FixedSizeBinary(4)),
    },
    Function {
        name: "evm_decode_tx",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("raw")],
            kernel: |columns, _| {
                Ok(computed(decode_transactions(&ByteColumn::try_new(
                    &columns[0],
                )?)))
            },
        }],
        result: |_| Ok(DataType::Struct(transaction_fields())),
    },
    Function {
        name: "evm_tx_hash",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("raw")],
            kernel: |columns, _| Ok(computed(hashes(&ByteColumn::try_new(&columns[0])?))),
        }],
        result: |_| Ok(DataType::FixedSizeBinary(32)),
    },
    Function {
        name: "evm_sender",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("raw")],
            kernel: |columns, _| Ok(computed(senders(&ByteColumn::try_new(&columns[0])?))),
        }],
        result: |_| Ok(DataType::FixedSizeBinary(20)),
    },
];

fn event(signature: &str) -> Result<EventDecoder, Error> {
    EventDecoder::parse(signature, &Options::default())
}

fn call(signature: &str) -> Result<CallDecoder, Error> {
    CallDecoder::parse(signature, &Options::default())
}

fn log(topics: &[ArrayRef], data: &ArrayRef, event: &EventDecoder) -> Result<Computed, Error> {
    let mut columns = [const { None }; 4];
    for (column, topic) in columns.iter_mut().zip(topics) {
        *column = Some(ByteColumn::try_new(topic)?);
    }
    let logs = Logs::try_new(columns, ByteColumn::try_new(data)?)?;
    Ok(computed(event.decode_all(&logs)))
}

/// Decodes logs of which the first topic is the event's.
fn log_without_first_topic(columns: &[ArrayRef], signature: &str) -> Result<Computed, Error> {
    let event = event(signature)?;
    let (topics, data) = (&columns[..3], &columns[3]);
    if event.codec().is_anonymous() {
        return log(topics, data, &event);
    }
    let topic = event.codec().topic().0;
    let topic = FixedSizeBinaryArray::try_from_iter(std::iter::repeat_n(topic, data.len()));
    let first: ArrayRef = Arc::new(topic.map_err(|error| Error::Arrow(error.to_string()))?);
    log(&[&[first], topics].concat(), data, &event)
}

/// One row.
fn constant(bytes: &[u8]) -> ArrayRef {
    Arc::new(FixedSizeBinaryArray::new(
        bytes.len() as i32,
        bytes.to_vec().into(),
        None,
    ))
}

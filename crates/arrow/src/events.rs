//! Logs of events.

use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{FieldRef, Schema};
use lydite_bytes::B256;
use lydite_evm::abi::{EventCodec, Mode};

use crate::{
    ByteColumn, ColumnMap, Decoded, Error, Failure, Options, Role, RowError,
    decoder::{Decoder, Place, Rows},
    error::merged,
    lists,
    prefix::PrefixMap,
};

/// The topics and data of a batch of logs. An absent topic is null or empty.
#[derive(Clone, Debug)]
pub struct Logs {
    topics: [Option<ByteColumn>; 4],
    data: ByteColumn,
}

impl Logs {
    /// Combines columns of the same length.
    ///
    /// # Errors
    /// [`Error::Length`] if the columns differ in length.
    pub fn try_new(topics: [Option<ByteColumn>; 4], data: ByteColumn) -> Result<Self, Error> {
        for topic in topics.iter().flatten() {
            if topic.len() != data.len() {
                return Err(Error::Length(data.len(), topic.len()));
            }
        }
        Ok(Self { topics, data })
    }

    /// Combines a list of topics and the data.
    ///
    /// # Errors
    /// [`Error::NotList`], [`Error::NotBytes`] for the items of the list, [`Error::Length`] if the columns differ in length.
    pub fn with_topic_list(topics: &ArrayRef, data: ByteColumn) -> Result<Self, Error> {
        Self::try_new(split_list(topics)?.map(Some), data)
    }

    /// Finds the columns by their [roles](Role): `data` and either `topic0` to `topic3` or one list, `topics`.
    ///
    /// # Errors
    /// [`Error::MissingRole`] without data or any topic, [`Error::MissingColumn`], [`Error::NotBytes`].
    pub fn from_batch(batch: &RecordBatch, map: &ColumnMap) -> Result<Self, Error> {
        let roles = LogColumns::find(batch.schema_ref(), map)?;
        let bytes = |index: usize| ByteColumn::try_new(batch.column(index));
        let topics = match roles.topics {
            Topics::List(list) => split_list(batch.column(list))?.map(Some),
            Topics::Columns(columns) => {
                let mut topics = [const { None }; 4];
                for (topic, index) in topics.iter_mut().zip(columns) {
                    *topic = index.map(bytes).transpose()?;
                }
                topics
            }
        };
        Self::try_new(topics, bytes(roles.data)?)
    }

    /// Returns the indices of the columns that [`from_batch`](Self::from_batch) reads.
    ///
    /// # Errors
    /// [`Error::MissingRole`] without data or any topic, [`Error::MissingColumn`].
    pub fn columns(schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error> {
        let LogColumns { data, topics } = LogColumns::find(schema, map)?;
        let mut columns = vec![data];
        match topics {
            Topics::List(list) => columns.push(list),
            Topics::Columns(topics) => columns.extend(topics.into_iter().flatten()),
        }
        Ok(columns)
    }

    /// Returns the number of logs.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are no logs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a topic of a log; `None` if it is absent, or if its text is not hexadecimal.
    ///
    /// # Panics
    /// If the row is out of range or `index` is not below 4.
    #[inline(always)]
    pub fn topic(&self, index: usize, row: usize) -> Option<&[u8]> {
        let topic = self.topics[index].as_ref()?.get(row)?;
        (!topic.is_empty()).then_some(topic)
    }

    /// Returns the number of topics of a log: the position after the last one that is present, also if its text is not
    /// hexadecimal.
    #[inline(always)]
    fn topics(&self, row: usize) -> usize {
        (0..4)
            .rev()
            .find(|index| self.topic(*index, row).is_some() || self.is_invalid_topic(*index, row))
            .map_or(0, |last| last + 1)
    }

    fn is_invalid_topic(&self, index: usize, row: usize) -> bool {
        let topics = self.topics[index].as_ref();
        topics.is_some_and(|topics| topics.is_invalid(row))
    }

    fn has_invalid_topic(&self, row: usize) -> bool {
        (0..4).any(|index| self.is_invalid_topic(index, row))
    }

    /// Returns the logs whose event is not known, because their first topic is not hexadecimal.
    fn unreadable(&self) -> Vec<Failure> {
        let first = self.topics[0].iter();
        first.flat_map(ByteColumn::invalid_failures).collect()
    }

    /// Returns the reason why a log is not valid for an event.
    fn explain(&self, event: &EventCodec, mode: Mode, row: usize) -> RowError {
        if self.data.is_invalid(row) || self.has_invalid_topic(row) {
            return RowError::Hexadecimal;
        }
        let mut topics = Vec::new();
        for index in 0..self.topics(row) {
            let Some(topic) = self.topic(index, row) else {
                return RowError::TopicAbsent(index);
            };
            let Ok(topic) = topic.try_into() else {
                return RowError::TopicLength(index, topic.len());
            };
            topics.push(B256::from(<[u8; 32]>::clone(topic)));
        }
        let data = self.data.get(row).unwrap_or_default();
        match event.decode_with(&topics, data, mode) {
            Err(error) => RowError::Abi(error),
            Ok(_) => RowError::Full,
        }
    }
}

/// The columns of logs, by index.
struct LogColumns {
    data: usize,
    topics: Topics,
}

enum Topics {
    Columns([Option<usize>; 4]),
    List(usize),
}

impl LogColumns {
    fn find(schema: &Schema, map: &ColumnMap) -> Result<Self, Error> {
        let find = |role| map.find(schema, role);
        let data = find(Role::Data)?.ok_or(Error::MissingRole(Role::Data))?;
        let mut topics = [None; 4];
        for (topic, role) in topics.iter_mut().zip(Role::TOPICS) {
            *topic = find(role)?;
        }
        let topics = match (topics[0], find(Role::Topics)?) {
            (Some(_), _) => Topics::Columns(topics),
            (None, Some(list)) => Topics::List(list),
            (None, None) => return Err(Error::MissingRole(Role::Topic0)),
        };
        Ok(Self { data, topics })
    }
}

impl Rows for Logs {
    fn topics(&self, index: usize, rows: &[usize]) -> Vec<Option<&[u8; 32]>> {
        match &self.topics[index] {
            Some(topics) => topics.map(rows, |topic| topic?.try_into().ok()),
            None => vec![None; rows.len()],
        }
    }

    fn data(&self, rows: &[usize]) -> Vec<&[u8]> {
        self.data.map(rows, Option::unwrap_or_default)
    }

    fn readable(&self, rows: &[usize]) -> Vec<bool> {
        let columns = self.topics.iter().flatten().chain([&self.data]);
        let invalid: Vec<&ByteColumn> = columns.filter(|column| column.has_invalid()).collect();
        let readable = rows
            .iter()
            .map(|row| !invalid.iter().any(|column| column.is_invalid(*row)));
        readable.collect()
    }
}

/// Splits a list of topics into columns.
fn split_list(list: &ArrayRef) -> Result<[ByteColumn; 4], Error> {
    let wrong = || Error::NotList(Role::Topics, list.data_type().clone());
    let (spans, values) = lists::split(list).ok_or_else(wrong)?;
    let values = ByteColumn::try_new(&values)?;
    let column = |index| values.take(spans.iter().map(|span| span.clone()?.nth(index)));
    Ok(std::array::from_fn(column))
}

/// Decoder for the logs of one event.
#[derive(Clone, Debug)]
pub struct EventDecoder {
    event: EventCodec,
    /// Number of topics of the event's logs.
    topics: usize,
    decoder: Decoder,
}

impl EventDecoder {
    /// Compiles a signature like [`EventCodec::parse`].
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn parse(signature: &str, options: &Options) -> Result<Self, Error> {
        let event = EventCodec::parse(signature);
        let event = event.map_err(|error| Error::Signature(signature.into(), error))?;
        Ok(Self::new(event, options))
    }

    /// Prepares the columns of an event.
    pub fn new(event: EventCodec, options: &Options) -> Self {
        let mut topics = usize::from(!event.is_anonymous());
        let parameters = event.signature().inputs.iter().map(|parameter| {
            let place = if parameter.indexed {
                topics += 1;
                Place::Topic(topics - 1)
            } else {
                Place::Data
            };
            (parameter, place)
        });
        let decoder = Decoder::new(parameters, event.data().clone(), options);
        Self {
            event,
            topics,
            decoder,
        }
    }

    /// Returns the event.
    pub fn codec(&self) -> &EventCodec {
        &self.event
    }

    /// Returns the fields of the decoded columns, in the order of the signature.
    pub fn fields(&self) -> &[FieldRef] {
        self.decoder.fields()
    }

    /// Returns how strictly encodings are checked.
    pub fn mode(&self) -> Mode {
        self.decoder.mode()
    }

    /// Returns the rows that are logs of this event: the first topic and the number of topics match. The parameters are
    /// not checked. If the text of a later topic is not hexadecimal, the first topic is enough.
    pub fn select(&self, logs: &Logs) -> Vec<usize> {
        let topic = &self.event.topic().0[..];
        let is_event = |row: &usize| match self.event.is_anonymous() {
            true => logs.topics(*row) == self.topics,
            false => {
                logs.topic(0, *row) == Some(topic)
                    && (logs.topics(*row) == self.topics || logs.has_invalid_topic(*row))
            }
        };
        (0..logs.len()).filter(is_event).collect()
    }

    /// Decodes the selected rows.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn decode(&self, logs: &Logs, rows: &[usize]) -> Decoded {
        let decoded = self.decoder.decode(logs, rows);
        Decoded {
            columns: decoded.columns,
            failures: self.failures(logs, decoded.null),
            overflows: decoded.overflows,
        }
    }

    /// Decodes all logs to one struct per row, which is null if the log is not of this event or is invalid. The failures
    /// include [`Decoded::overflows`].
    pub fn decode_all(&self, logs: &Logs) -> (StructArray, Vec<Failure>) {
        let selected = self.select(logs);
        let (structs, invalid, overflows) = self.decoder.decode_all(logs, logs.len(), &selected);
        let mut failures = self.failures(logs, invalid);
        if !self.event.is_anonymous() {
            failures.extend(logs.unreadable());
        }
        (structs, merged(failures, overflows))
    }

    fn failures(&self, logs: &Logs, invalid: Vec<usize>) -> Vec<Failure> {
        let invalid = invalid.into_iter().map(|row| Failure {
            row,
            error: logs.explain(&self.event, self.mode(), row),
        });
        invalid.collect()
    }
}

/// Decoders for several events, found by first topic and number of topics.
#[derive(Clone, Debug)]
pub struct EventSet {
    decoders: Vec<EventDecoder>,
    /// Index of the decoder by number of topics.
    by_topic: PrefixMap<[u8; 32], [Option<usize>; 5]>,
}

/// The logs of a batch, sorted by event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// The rows of each decoder, in the order of [`EventSet::decoders`].
    pub rows: Vec<Vec<usize>>,
    /// Number of rows with the first topic of an event, but with another number of topics.
    pub other_layout: usize,
    /// Rows that may be of any event, because the text of their first topic is not hexadecimal.
    pub unreadable: Vec<Failure>,
}

impl EventSet {
    /// Combines decoders. Of events with equal first topic and number of topics, the first one is kept.
    ///
    /// # Errors
    /// [`Error::Anonymous`] if there are several events and one of them is anonymous.
    pub fn new(decoders: impl IntoIterator<Item = EventDecoder>) -> Result<Self, Error> {
        let mut set = Self {
            decoders: Vec::new(),
            by_topic: PrefixMap::default(),
        };
        for decoder in decoders {
            let layouts = set.by_topic.entry(decoder.event.topic().0).or_default();
            let layout = &mut layouts[decoder.topics];
            if layout.is_none() {
                *layout = Some(set.decoders.len());
                set.decoders.push(decoder);
            }
        }
        let mut decoders = set.decoders.iter();
        if set.decoders.len() > 1
            && let Some(anonymous) = decoders.find(|decoder| decoder.event.is_anonymous())
        {
            return Err(Error::Anonymous(anonymous.event.signature().to_string()));
        }
        Ok(set)
    }

    /// Returns the decoders.
    pub fn decoders(&self) -> &[EventDecoder] {
        &self.decoders
    }

    /// Whether the only event is anonymous.
    pub(crate) fn has_anonymous(&self) -> bool {
        let mut decoders = self.decoders.iter();
        decoders.any(|decoder| decoder.event.is_anonymous())
    }

    /// Whether this is the first topic of one of the events.
    pub(crate) fn has_topic(&self, topic: &[u8]) -> bool {
        self.by_topic.contains_key(topic)
    }

    /// Sorts the logs of a batch by event. A log with a later topic whose text is not hexadecimal is of the event with
    /// its number of topics, or of the first one with its first topic.
    pub fn select(&self, logs: &Logs) -> Selected {
        if self.has_anonymous() {
            let decoders = self.decoders.iter();
            return Selected {
                rows: decoders.map(|decoder| decoder.select(logs)).collect(),
                ..Selected::default()
            };
        }
        let mut selected = Selected {
            rows: vec![Vec::new(); self.decoders.len()],
            other_layout: 0,
            unreadable: logs.unreadable(),
        };
        for row in 0..logs.len() {
            let Some(layouts) = logs
                .topic(0, row)
                .and_then(|topic| self.by_topic.get(topic))
            else {
                continue;
            };
            let decoder = layouts[logs.topics(row)].or_else(|| {
                let first = layouts.iter().flatten().min().copied();
                first.filter(|_| logs.has_invalid_topic(row))
            });
            match decoder {
                Some(decoder) => selected.rows[decoder].push(row),
                None => selected.other_layout += 1,
            }
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use arrow_array::BinaryViewArray;

    use super::*;
    use crate::Uint256Format;

    /// A row is null in all columns if one of its values exceeds the limit.
    #[test]
    fn values_up_to_the_limit() {
        let word = |byte: u8| [vec![0; 31], vec![byte]].concat();
        let column = |values: [Vec<u8>; 3]| {
            let array: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(values));
            ByteColumn::try_new(&array).unwrap()
        };
        let bytes = |len: u8| {
            let padded = (0..32).map(|i| u8::from(i < len)).collect();
            [word(64), word(9), word(len), padded].concat()
        };
        let dynamic = (
            "E(uint256 indexed a, bytes b, uint64 c)",
            [2, 3, 1].map(bytes),
        );
        let flat = ("E(uint64 indexed a, uint256 b)", [1, 2, 3].map(word));
        let binary = vec![Uint256Format::Binary];
        let both = vec![Uint256Format::Binary, Uint256Format::String];
        // As text, a number takes up to 78 digits; these have one.
        for ((event, data), uint256, limit, full) in
            [(dynamic, binary, 4, [1]), (flat, both, 79, [2])]
        {
            let options = Options {
                uint256,
                ..Options::default()
            };
            let mut decoder = EventDecoder::parse(event, &options).unwrap();
            decoder.decoder = decoder.decoder.with_limit(limit);
            let topic = decoder.codec().topic().0.to_vec();
            let topics = [
                Some(column([(); 3].map(|()| topic.clone()))),
                Some(column([1, 2, 3].map(word))),
                None,
                None,
            ];
            let logs = Logs::try_new(topics, column(data)).unwrap();
            let decoded = decoder.decode(&logs, &[0, 1, 2]);
            let failures = full.iter().map(|row| Failure {
                row: *row,
                error: RowError::Full,
            });
            assert_eq!(decoded.failures, failures.collect::<Vec<_>>());
            for column in decoded.columns {
                let null: Vec<usize> = (0..3).filter(|row| column.is_null(*row)).collect();
                assert_eq!(null, full);
            }
        }
    }
}

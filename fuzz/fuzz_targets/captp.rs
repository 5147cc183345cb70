//! CapTP: decoded messages encode to the same bytes in every dialect; a stream yields the same messages however it is
//! split.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::ocapn::captp::{
    Dialect, Error, Frames, Framing, HandoffReceive, Locator, Operation, Signed, Sturdyref, Syrup,
};

const DIALECTS: [Dialect; 3] = [
    Dialect::Suite202602,
    Dialect::Draft202607,
    Dialect::Endo202608,
];

fuzz_target!(|data: &[u8]| {
    for dialect in DIALECTS {
        if let Ok(operation) = Operation::decode::<Syrup>(data, dialect) {
            let mut out = Vec::new();
            assert!(operation.encode::<Syrup, _>(dialect, &mut out).is_ok());
            assert_eq!(out, data);
        }
        let _ = Sturdyref::decode::<Syrup>(data, dialect);
    }
    let _ = Signed::<HandoffReceive<'_>>::decode::<Syrup>(data);
    if let Ok(locator) = String::from_utf8_lossy(data).parse::<Locator>() {
        assert_eq!(locator.to_string().parse(), Ok(locator));
    }

    let Some((&choice, stream)) = data.split_first() else {
        return;
    };
    // The chunk size, and whether there is a limit.
    let size = usize::from(choice % 128).max(1);
    let limit = if choice < 128 { 1000 } else { usize::MAX };
    for framing in [Framing::None, Framing::Length] {
        let whole = messages(framing, limit, stream.chunks(stream.len().max(1)));
        let pieces = messages(framing, limit, stream.chunks(size));
        assert_eq!(whole, pieces);
    }
});

/// Collects the messages before an error, and the error.
fn messages<'a>(
    framing: Framing,
    limit: usize,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Vec<u8>>, Option<Error>) {
    let mut frames = Frames::<Syrup>::new(framing, limit);
    let mut messages = Vec::new();
    for piece in pieces {
        let fed = frames.feed(piece, |message| {
            assert!(message.len() <= limit);
            messages.push(message.to_vec());
            Ok::<_, Error>(())
        });
        if let Err(error) = fed {
            return (messages, Some(error));
        }
        // A frame's header is at most four digits and a colon.
        assert!(limit != 1000 || frames.pending() <= 1000 + 5);
    }
    (messages, None)
}

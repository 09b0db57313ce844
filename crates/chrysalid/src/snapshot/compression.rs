//! zstd at fast levels, with contexts that are kept.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};

const LEVEL: i32 = 1;
/// Codes no literals. Headers of 600 bytes are as large as with level 1, whose code takes a table of its own, those of 1,800 an
/// eighth larger; level 1 takes over twice as long to write, and two to five times as long to read where it has such a table.
const LEVEL_OF_FEW: i32 = -1;
const FEW: usize = 2048;

thread_local! {
    // Making a context takes as long as packing a small snapshot with it. A thread keeps at most
    // 0.6 MB for the one and 0.1 MB for the other.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

pub(crate) fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => kept.insert(Compressor::new(LEVEL)?),
        };
        compressor.set_compression_level(if bytes.len() <= FEW { LEVEL_OF_FEW } else { LEVEL })?;
        compressor.compress(bytes)
    })
}

/// What is no more than `bound` bytes. Room for so many is taken at once.
pub(crate) fn decompress(packed: &[u8], bound: usize) -> io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::new()?),
        };
        decompressor.decompress(packed, bound)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_and_many_are_read_back_and_do_not_disturb_each_other() {
        let text = |length| {
            b"const answer = await tools.ask({ q: 1 });\n".iter().copied().cycle().take(length).collect::<Vec<_>>()
        };
        let packed: Vec<_> = [0, 1, 2048, 2049, 100_000].map(|length| compress(&text(length)).unwrap()).into();
        for (length, bytes) in [0, 1, 2048, 2049, 100_000].into_iter().zip(&packed) {
            assert_eq!(decompress(bytes, length).unwrap(), text(length));
            assert_eq!(&compress(&text(length)).unwrap(), bytes);
        }
    }
}

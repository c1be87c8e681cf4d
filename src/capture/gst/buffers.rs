//! Memory of pictures that is used again. A picture is large enough to have pages of its own (see
//! [`allocator`](crate::runtime::allocator)); to be given them anew for each one costs more than to copy it.

use bytes::Bytes;
use crossbeam_channel::{Receiver, Sender, bounded};

/// Buffers at most that wait to be used again, of one stream: as many pictures as are on their way from the source to the
/// workers while nobody is late.
const MOST_FREE: usize = 8;

/// The buffers of one stream. Whoever drops the last handle to a picture puts its buffer back, in whatever thread.
#[derive(Debug)]
pub(super) struct BufferPool {
    put: Sender<Vec<u8>>,
    free: Receiver<Vec<u8>>,
}

impl Default for BufferPool {
    fn default() -> Self {
        let (put, free) = bounded(MOST_FREE);
        Self { put, free }
    }
}

impl BufferPool {
    /// An empty buffer with room for so many bytes.
    pub(super) fn take(&self, bytes: usize) -> Vec<u8> {
        let mut buffer = self.free.try_recv().unwrap_or_default();
        buffer.clear();
        buffer.reserve_exact(bytes);
        buffer
    }

    /// What the buffer holds by now, to be shared.
    pub(super) fn share(&self, buffer: Vec<u8>) -> Bytes {
        Bytes::from_owner(Lent { buffer, home: self.put.clone() })
    }
}

struct Lent {
    buffer: Vec<u8>,
    home: Sender<Vec<u8>>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Where enough wait already, or the stream is over, it is freed.
        self.home.try_send(std::mem::take(&mut self.buffer)).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_with_the_last_handle() {
        let pool = BufferPool::default();
        let mut buffer = pool.take(1_000);
        let place = buffer.as_ptr();
        buffer.extend_from_slice(&[7; 1_000]);
        let shared = pool.share(buffer);
        let other = shared.clone();
        drop(shared);
        let new = pool.take(1_000);
        assert_ne!(new.as_ptr(), place, "somebody still reads it");
        assert_eq!(*other, [7; 1_000]);
        drop(other);
        let again = pool.take(1_000);
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
    }

    #[test]
    fn no_more_wait_than_may_and_none_outlives_its_stream() {
        let pool = BufferPool::default();
        let shared: Vec<Bytes> = (0..2 * MOST_FREE).map(|n| pool.share(vec![n as u8; 4])).collect();
        drop(shared);
        assert_eq!(pool.free.len(), MOST_FREE);
        let last = pool.share(vec![1, 2, 3]);
        drop(pool);
        assert_eq!(*last, [1, 2, 3]);
    }
}

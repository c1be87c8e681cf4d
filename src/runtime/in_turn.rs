//! Networks that several workers take in turn: few jobs want them, and each copy costs memory.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Who waits longer gets one of their own: whoever has it may hang.
const PATIENCE: Duration = Duration::from_secs(3);

/// Something that is made when it is wanted and taken by one at a time. What panics with it is not given back.
pub struct InTurn<T, E> {
    make: Box<dyn Fn() -> Result<T, E> + Send + Sync>,
    shelf: Mutex<Shelf<T>>,
    is_back: Condvar,
}

struct Shelf<T> {
    idle: Option<T>,
    /// So many have one.
    out: usize,
}

impl<T, E> InTurn<T, E> {
    /// Makes the first at once.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(make: impl Fn() -> Result<T, E> + Send + Sync + 'static) -> Result<Self, E> {
        let shelf = Mutex::new(Shelf { idle: Some(make()?), out: 0 });
        Ok(Self { make: Box::new(make), shelf, is_back: Condvar::new() })
    }

    /// Runs with it, once whoever has it is done.
    ///
    /// # Errors
    /// When there is none any more, and none can be made.
    pub fn with<R>(&self, run: impl FnOnce(&mut T) -> R) -> Result<R, E> {
        let is_away = |shelf: &mut Shelf<T>| shelf.idle.is_none() && shelf.out > 0;
        let waited = self.is_back.wait_timeout_while(self.shelf(), PATIENCE, is_away);
        let (mut shelf, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let idle = shelf.idle.take();
        shelf.out += 1;
        drop(shelf);
        // (Counts as out until it is dropped, whatever happens.)
        let mut taken = Taken { from: self, one: idle };
        let one = match &mut taken.one {
            Some(one) => one,
            none => none.insert((self.make)()?),
        };
        Ok(run(one))
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf<T>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one has.
struct Taken<'a, T, E> {
    from: &'a InTurn<T, E>,
    one: Option<T>,
}

impl<T, E> Drop for Taken<'_, T, E> {
    fn drop(&mut self) {
        let back = self.one.take().filter(|_| !std::thread::panicking());
        let mut shelf = self.from.shelf();
        shelf.out -= 1;
        // Of two, one is enough.
        if shelf.idle.is_none() {
            shelf.idle = back;
        }
        drop(shelf);
        self.from.is_back.notify_one();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::*;

    /// Gives numbers from 1; none beyond `most`.
    fn numbers(most: u32) -> InTurn<u32, &'static str> {
        let made = Arc::new(AtomicU32::new(0));
        let make = move || match made.fetch_add(1, Ordering::SeqCst) {
            one if one < most => Ok(one + 1),
            _ => Err("there are no more"),
        };
        InTurn::new(make).unwrap()
    }

    #[test]
    fn one_is_enough_for_many_who_take_turns() {
        let numbers = numbers(1);
        let sum: u32 = thread::scope(|scope| {
            let taken: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| (0..50).map(|_| numbers.with(|one| *one).unwrap()).sum::<u32>())
                })
                .collect();
            taken.into_iter().map(|one| one.join().unwrap()).sum()
        });
        assert_eq!(sum, 200);
    }

    #[test]
    fn what_panicked_is_not_used_again_and_what_cannot_be_made_is_told() {
        let numbers = numbers(2);
        let panics = || numbers.with(|_| panic!("it broke"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert_eq!(numbers.with(|one| *one), Ok(2));
        assert!(catch_unwind(AssertUnwindSafe(|| numbers.with(|_| panic!("again")))).is_err());
        assert_eq!(numbers.with(|one| *one), Err("there are no more"));
        assert_eq!(numbers.with(|one| *one), Err("there are no more"), "nobody waits for it");
    }

    #[test]
    fn who_waits_for_one_that_hangs_gets_another() {
        let numbers = Arc::new(numbers(2));
        let (hang, hangs) = std::sync::mpsc::channel::<()>();
        let (begun, begins) = std::sync::mpsc::channel();
        let other = Arc::clone(&numbers);
        let hanging = thread::spawn(move || {
            other.with(|one| {
                begun.send(*one).unwrap();
                hangs.recv().unwrap();
            })
        });
        assert_eq!(begins.recv(), Ok(1));
        assert_eq!(numbers.with(|one| *one), Ok(2));
        assert_eq!(numbers.with(|one| *one), Ok(2), "at once from then on");
        hang.send(()).unwrap();
        hanging.join().unwrap().unwrap();
        assert_eq!(numbers.with(|one| *one), Ok(2));
    }
}

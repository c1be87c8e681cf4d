//! A replay's clock, told over MQTT at an even rate: what `ros2 bag play --clock` publishes for ROS.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::ingest::PlaybackClock;
use crate::mqtt::Publisher;
use crate::mqtt::message::{ClockTick, ReplayRate};
use crate::time::Timestamp;

/// Tells the time of a replay until it is dropped.
pub struct Ticking {
    /// Gone: the thread ends.
    quit: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticking {
    /// Publishes `clock` so many times a second.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(pace: PlaybackClock, publisher: Publisher, hz: f64) -> std::io::Result<Self> {
        let (quit, quitting) = bounded(0);
        let every = Duration::try_from_secs_f64(1.0 / hz).unwrap_or(Duration::MAX);
        let thread = thread::Builder::new()
            .name("clock".to_owned())
            .spawn(move || run(&pace, &publisher, every, &quitting))?;
        Ok(Self { quit: Some(quit), thread: Some(thread) })
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        drop(self.quit.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the clock's thread ended in a panic; please report it");
        }
    }
}

fn run(pace: &PlaybackClock, publisher: &Publisher, every: Duration, quitting: &Receiver<()>) {
    while let Err(RecvTimeoutError::Timeout) = quitting.recv_timeout(every) {
        // Before its first item a recording has no time.
        if let Some(tick) = tick(pace) {
            publisher.clock(&tick);
        }
    }
}

fn tick(pace: &PlaybackClock) -> Option<ClockTick> {
    let (time, (rate, paused)) = (pace.position(), pace.state());
    let rate = rate.map_or(ReplayRate::Max, ReplayRate::Times);
    (time > Timestamp::EPOCH).then_some(ClockTick { time, rate, paused })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::ingest::Command;

    #[test]
    fn a_tick_is_where_the_replay_is_and_how_it_goes_on() {
        let pace = PlaybackClock::new(Some(2.0), false);
        assert_eq!(tick(&pace), None, "nothing was played yet");
        let at = Timestamp::from_nanos(5_000_000_000);
        assert!(pace.wait(at, true));
        let told = ClockTick { time: at, rate: ReplayRate::Times(2.0), paused: false };
        assert_eq!(tick(&pace), Some(told));
        pace.command(Command::Pause);
        pace.command(Command::Rate(None));
        assert_eq!(tick(&pace), Some(ClockTick { rate: ReplayRate::Max, paused: true, ..told }));
    }
}

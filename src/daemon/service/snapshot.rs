//! Parts of the ring are kept, and erased with what they show.

use std::io;

use serde_json::json;

use super::MemoryService;
use crate::capture::CaptureError;
use crate::daemon::ring::{Ring, RingError};
use crate::http::snapshots::Snapshots;
use crate::memory::Forget;
use crate::memory::model::MemoryKind;
use crate::mqtt::message::Snapshot;
use crate::mqtt::{Refusal, Reply};
use crate::time::{Span, Timestamp};

/// So long a part is kept where the request does not say, seconds.
const SECS: f64 = 30.0;
/// What is captured now ends before it, seconds from now: whatever clock a camera has.
const AHEAD_SECS: f64 = 3600.0;

impl MemoryService {
    /// The ring is filled from now on.
    pub fn fills(&self, ring: Ring) {
        self.ring.store(ring.into());
    }

    /// Keeps a part of the ring, or takes a snapshot away.
    pub(super) fn snapshot(&self, snapshot: &Snapshot) -> Result<Reply, Refusal> {
        let ring = self.ring.load();
        if let Some(name) = &snapshot.remove {
            let removed = ring.remove(name).map_err(|error| failed(&error.into()))?;
            return match removed {
                true => Ok(Reply::Document(json!({ "snapshot": name, "removed": true }))),
                false => Err(Refusal::not_found(format!(
                    "there is no snapshot {name:?}; the verb `snapshots` tells which there are"
                ))),
            };
        }
        if !ring.is_on() {
            return Err(Refusal::unavailable(
                "there is no ring to keep a part of; set `ring.minutes`, and let cameras or microphones run",
            ));
        }
        let now = Timestamp::wall_clock();
        let span = match (snapshot.start, snapshot.end) {
            (Some(start), end) => Span::new(start, end.unwrap_or(now)),
            (None, _) => Span::new(now.plus_secs(-snapshot.secs.unwrap_or(SECS)), now),
        };
        if span.end > now {
            return Err(Refusal::bad_request(format!(
                "`end` ({}) has not come yet; a part is kept of what was",
                span.end
            )));
        }
        let kept = ring.keep(span).map_err(|error| failed(&error))?;
        Ok(Reply::Document(json!({
            "snapshot": kept.name,
            "start": kept.span.start,
            "end": kept.span.end,
            "bytes": kept.bytes,
        })))
    }

    /// When what is to be erased was captured. Who is in the open window is not told yet: with somebody all of it goes. Where
    /// words go for their age, all that is as old does.
    pub(super) fn captured(&self, what: &[Forget], moments: &[Span]) -> Vec<Span> {
        let mut captured = moments.to_vec();
        captured.extend(what.iter().filter_map(|one| match one {
            Forget::Aged(MemoryKind::Utterance, before) => {
                Some(Span::new(Timestamp::EPOCH, *before))
            }
            _ => None,
        }));
        let of_somebody = |one: &Forget| matches!(one, Forget::Entity(_) | Forget::Name(_));
        if what.iter().any(of_somebody) && self.ring.load().is_on() {
            let view = self.view();
            let sealed = view.last_clip(None, |clip| view.recording_of(clip.id.session).is_none());
            let since = sealed.map_or(Timestamp::EPOCH, |clip| clip.span.end);
            captured.push(Span::new(since, Timestamp::wall_clock().plus_secs(AHEAD_SECS)));
        }
        captured
    }
}

impl Snapshots for MemoryService {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.ring.load().read(name)
    }

    fn film(&self, name: &str, camera: Option<&str>) -> Result<Option<Vec<u8>>, Refusal> {
        self.ring.load().film(name, camera).map_err(|error| failed(&error))
    }
}

fn failed(error: &RingError) -> Refusal {
    match error {
        RingError::Nothing(_) => Refusal::not_found(error.to_string()),
        RingError::TooLarge(_) | RingError::Film(CaptureError::Film(_)) => {
            Refusal::bad_request(error.to_string())
        }
        RingError::Io(_) | RingError::Film(_) | RingError::Mcap(_) => {
            tracing::warn!(%error, "A part of the ring is not kept, or not shown.");
            Refusal::internal(error.to_string())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::daemon::queries::tests::{T0, small_memory};
    use crate::daemon::ring::tests::{feed, limits};
    use crate::daemon::service::{Clock, privacy};
    use crate::mqtt::RefusalCode;

    #[test]
    fn whoever_is_erased_is_in_neither_ring_nor_snapshots() {
        let dir = tempfile::tempdir().unwrap();
        drop(small_memory(dir.path()));
        let service = privacy::tests::service(dir.path(), Clock::Store, Default::default());
        let ask = Snapshot { id: None, secs: Some(5.0), start: None, end: None, remove: None };
        assert_eq!(service.snapshot(&ask).unwrap_err().code, RefusalCode::Unavailable);
        // Ava is in view from 1 to 9 and from 20 to 25 s; the clip is sealed at 30 s.
        let at = |secs: f64| Timestamp::from_nanos(T0).plus_secs(secs);
        let ring = Ring::start(dir.path(), None, &limits(1440.0, 100), BTreeMap::new()).unwrap();
        feed(&ring, at(0.0), 40);
        service.fills(ring.clone());
        let (start, end) = (Some(at(0.0)), Some(at(12.0)));
        let kept = Snapshot { secs: None, start, end, ..ask.clone() };
        service.snapshot(&kept).unwrap();
        let coming = Snapshot { end: Some(Timestamp::wall_clock().plus_secs(60.0)), ..kept };
        assert_eq!(service.snapshot(&coming).unwrap_err().code, RefusalCode::BadRequest);

        let forget = |dry: bool| {
            let forget = json!({ "entity": "Ava", "dry_run": dry });
            let reply = service.forget(&serde_json::from_value(forget).unwrap()).unwrap();
            let Reply::Document(document) = reply else { panic!("bytes") };
            document
        };
        // (A second around them is looked at, too.)
        let left = |from: f64, to: f64| {
            ring.would_erase(&[Span::new(at(from + 1.0), at(to - 1.0))]).unwrap().0
        };
        let all = left(0.0, 40.0);
        let would = forget(true);
        assert_eq!(would["snapshots"], 1, "{would}");
        assert!(would["ring_secs"].as_f64().unwrap() > 20.0, "{would}");
        assert_eq!((left(0.0, 40.0), ring.kept().unwrap().len()), (all, 1));
        assert_eq!(forget(false).get("waits"), None);
        assert_eq!((left(0.0, 10.0), left(19.0, 26.0), left(29.0, 40.0)), (0.0, 0.0, 0.0));
        assert!(left(11.0, 18.0) > 4.0);
        let kept = ring.kept().unwrap();
        assert!(kept.len() == 1 && kept[0].span.start >= at(9.9), "{kept:?}");

        let remove = Snapshot { secs: None, remove: Some(kept[0].name.clone()), ..ask };
        service.snapshot(&remove).unwrap();
        assert_eq!(service.snapshot(&remove).unwrap_err().code, RefusalCode::NotFound);
    }
}

//! A simulated year of forgetting: `bench forget`.
//!
//! Every clip brings memories of a household; upkeep runs between the clips as in the daemon, in event time.
//! Some facts are told and pinned. At the end the store must be under its cap, and questions about what was told
//! and about the days must still be answered.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::BenchError;
use super::filler::beginning;
use super::random::SplitMix64;
use super::scratch;
use crate::answer::{Answerer, Effort, Question};
use crate::config;
use crate::identify::Persons;
use crate::ids::{ClipId, EntityId, EntityKind, MemoryId, SessionId};
use crate::memorize::{Memorizer, Upkeep};
use crate::memory::model::{Clip, MemoryKind, MemoryRow, NameRow, NameSource};
use crate::memory::{Draft, Filter, Memory, MemoryError, StoreOptions};
use crate::time::{Span, Timestamp};

/// Where what was told lies.
const TOLD: [(&str, &str); 10] = [
    ("spare key", "under the blue flowerpot"),
    ("fuse box", "behind the cellar door"),
    ("first aid kit", "in the hall cupboard"),
    ("tax folder", "on the top shelf"),
    ("bicycle pump", "in the garden shed"),
    ("sewing machine", "in the attic"),
    ("toolbox", "under the stairs"),
    ("passport", "in the desk drawer"),
    ("torch", "beside the back door"),
    ("fire extinguisher", "next to the stove"),
];
/// What people talk about on a day: one word of each list makes the day's matter.
const WHAT: [&str; 12] = [
    "telescope",
    "marathon",
    "cello",
    "beehive",
    "sailboat",
    "mosaic",
    "chimney",
    "orchard",
    "puppet",
    "volcano",
    "lantern",
    "tandem",
];
const WHICH: [&str; 16] = [
    "copper", "velvet", "crooked", "silver", "wooden", "purple", "ancient", "tiny", "striped",
    "borrowed", "leaking", "famous", "frozen", "hollow", "noisy", "secret",
];
/// What is said otherwise.
const SMALL_TALK: [&str; 8] = [
    "Good morning.",
    "Is there any coffee left?",
    "I will be back soon.",
    "What time is it?",
    "The bus was late again.",
    "Please close the window.",
    "Who is cooking tonight?",
    "It is raining.",
];
const SEED: u64 = 365;
const CLIP_SECS: f64 = 30.0;

/// How long, how much, how much of it is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Days.
    pub days: u32,
    /// Clips of a day.
    pub clips_per_day: u32,
    /// Memories of a clip.
    pub memories_per_clip: u32,
    /// Memories kept at most.
    pub cap: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self { days: 365, clips_per_day: 24, memories_per_clip: 6, cap: 2_500 }
    }
}

/// `bench forget`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForgetFigures {
    /// Memories written.
    pub written: u64,
    /// The cap.
    pub cap: usize,
    /// `written` in caps.
    pub caps_written: f64,
    /// The most memories there ever were, after any clip.
    pub most: u64,
    /// Whether `most` stayed within the cap.
    pub under_cap: bool,
    /// Memories at the end, …
    pub left: u64,
    /// … of them summaries of days, …
    pub day_summaries: usize,
    /// … and of hours.
    pub hour_summaries: usize,
    /// Conclusions that hold at the end.
    pub conclusions: usize,
    /// Memories folded.
    pub folded: u64,
    /// Row versions deleted for good.
    pub rows_deleted: u64,
    /// The most row versions of memories in the store, after any clip.
    pub most_rows: u64,
    /// Questions about pinned facts: asked, and answered right.
    pub told: Asked,
    /// Questions about days: asked, and answered with that day's summary, its matter in it.
    pub days: Asked,
    /// A memory that was recalled every second day is still there word for word; one like it that was not is folded.
    pub recalled_stays: bool,
    /// Days of age of the oldest remark that is still there word for word, the recalled one aside.
    pub oldest_verbatim_days: f64,
    /// Passes of upkeep, milliseconds: median and longest.
    pub pass_ms: [f64; 2],
    /// Size of the store, MB.
    pub store_mb: f64,
}

/// Questions asked and answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// Asked.
    pub asked: usize,
    /// Right.
    pub right: usize,
}

/// Lives through the plan in a temporary store.
///
/// # Errors
/// When the store fails.
pub fn measure(plan: &Plan) -> Result<ForgetFigures, BenchError> {
    let store = scratch::folder()?;
    let memory = Memory::open(store.path(), &StoreOptions::default())?;
    let settings =
        config::Upkeep { keep_memories: plan.cap, history_days: 7.0, ..config::Upkeep::default() };
    let memorizer = Memorizer::new(None);
    let upkeep = Upkeep::new(memory.clone(), memorizer.clone(), settings, TimeZone::UTC);
    let mut year = Year::begin(&memory, &memorizer)?;
    let mut figures = ForgetFigures { cap: plan.cap, ..ForgetFigures::default() };
    let mut passes = Vec::new();
    for day in 0..plan.days {
        for clip in 0..plan.clips_per_day {
            let at = beginning().plus_secs(
                f64::from(day) * 86_400.0
                    + f64::from(clip) * 86_400.0 / f64::from(plan.clips_per_day),
            );
            let begun = std::time::Instant::now();
            let done = upkeep.run(at)?;
            if !done.is_nothing() {
                passes.push(begun.elapsed().as_secs_f64() * 1e3);
            }
            figures.folded += done.folded as u64;
            figures.rows_deleted += done.compacted;
            year.clip(&memory, (day, clip), at, plan)?;
            figures.most = figures.most.max(memory.view().count_memories());
            figures.most_rows = figures.most_rows.max(memory.view().count_versions());
        }
        if day % 2 == 0
            && let Some(favourite) = year.favourite
        {
            let at = beginning().plus_secs(f64::from(day + 1) * 86_400.0);
            memory.note_access(&[favourite], at);
        }
        if plan.days >= 10 && day % (plan.days / 10) == 0 {
            eprintln!("day {day} of {}: {} memories", plan.days, memory.view().count_memories());
        }
    }
    figures.written = year.written;
    figures.caps_written = year.written as f64 / plan.cap as f64;
    figures.under_cap = figures.most <= plan.cap as u64;
    passes.sort_by(f64::total_cmp);
    figures.pass_ms = [
        passes.get(passes.len() / 2).copied().unwrap_or(0.0),
        passes.last().copied().unwrap_or(0.0),
    ];
    year.look_back(&memory, plan, &mut figures)?;
    figures.store_mb = super::memory::folder_bytes(store.path()) as f64 * 1e-6;
    Ok(figures)
}

/// A household, and what is remembered of it.
struct Year {
    random: SplitMix64,
    session: SessionId,
    people: Vec<EntityId>,
    written: u64,
    /// A remark of the first day that is recalled every second day, and one that is not.
    favourite: Option<MemoryId>,
    other: Option<MemoryId>,
}

impl Year {
    /// Two people, and what was told.
    fn begin(memory: &Memory, memorizer: &Memorizer) -> Result<Self, BenchError> {
        let mut draft = memory.begin(beginning());
        let session = draft.new_session(beginning(), CLIP_SECS, None);
        let mut people = Vec::new();
        for name in ["Ava", "Ben"] {
            let entity = draft.new_entity(EntityKind::Person);
            let (name, source) = (name.to_owned(), NameSource::Told);
            draft.name(NameRow { entity, name, since: beginning(), source, turn: None });
            people.push(entity);
        }
        let persons = Persons::default();
        for (thing, place) in TOLD {
            let told = MemoryRow {
                pinned: true,
                importance: 0.6,
                ..row(MemoryKind::Note, format!("The {thing} is {place}."), beginning(), None)
            };
            memorizer.note(told, &persons, &mut draft);
        }
        draft.commit()?;
        let random = SplitMix64::new(SEED);
        Ok(Self {
            random,
            session,
            people,
            written: TOLD.len() as u64,
            favourite: None,
            other: None,
        })
    }

    /// One clip: Ava is here in the morning, Ben with her; everybody talks.
    fn clip(
        &mut self,
        memory: &Memory,
        (day, clip): (u32, u32),
        at: Timestamp,
        plan: &Plan,
    ) -> Result<(), MemoryError> {
        let span = Span::new(at, at.plus_secs(CLIP_SECS));
        let mut draft = memory.begin(span.end);
        let id = ClipId { session: self.session, index: day * plan.clips_per_day + clip };
        draft.clip(Clip {
            id,
            span,
            frames: 750,
            analysed: 150,
            dropped: 0,
            key_frames: Vec::new(),
        });
        for number in 0..plan.memories_per_clip {
            let at =
                at.plus_secs(f64::from(number) * CLIP_SECS / f64::from(plan.memories_per_clip));
            let row = self.moment((day, clip, number), at, id);
            let id = put(&mut draft, row);
            self.written += 1;
            if day == 0 && clip == 1 {
                match number {
                    1 => self.favourite = Some(id),
                    2 => self.other = Some(id),
                    _ => {}
                }
            }
        }
        draft.commit().map(drop)
    }

    fn moment(
        &mut self,
        (day, clip, number): (u32, u32, u32),
        at: Timestamp,
        id: ClipId,
    ) -> MemoryRow {
        let who = self.people[self.random.below(self.people.len())];
        if number == 0 {
            let text = format!("<{who}> was in view of front for 20 s.");
            return row(MemoryKind::Episodic, text, at, Some(id));
        }
        // Once a day somebody says what this day will be remembered by.
        let (words, importance) = match clip == 9 && number == 1 {
            true => (format!("Today we finally got the {}.", matter(day)), 0.6),
            false => (SMALL_TALK[self.random.below(SMALL_TALK.len())].to_owned(), 0.25),
        };
        let text = format!("<{who}> said: \"{words}\"");
        MemoryRow { importance, ..row(MemoryKind::Utterance, text, at, Some(id)) }
    }

    /// Asks about what was told and about days, and looks at what is left.
    fn look_back(
        &self,
        memory: &Memory,
        plan: &Plan,
        figures: &mut ForgetFigures,
    ) -> Result<(), BenchError> {
        let view = memory.view();
        let answerer = Answerer::new(TimeZone::UTC, 10, None);
        let now = beginning().plus_secs(f64::from(plan.days) * 86_400.0);
        let ask = |text: String| {
            let question = Question { text, effort: Effort::Fast, ..Question::default() };
            answerer.answer(memory, &question, Some(now))
        };
        for (thing, place) in TOLD {
            figures.told.asked += 1;
            figures.told.right +=
                usize::from(ask(format!("Where is the {thing}?"))?.answer.contains(place));
        }
        let rows = view.memories(&Filter::default());
        let days: BTreeMap<Timestamp, &MemoryRow> = rows
            .iter()
            .filter(|row| row.kind == MemoryKind::Summary && row.span.secs() > 4_000.0)
            .map(|row| (row.span.start, &**row))
            .collect();
        // Days that are folded as a whole.
        let oldest = (0..plan.days).filter(|day| *day < plan.days / 2);
        for day in oldest.step_by(7) {
            let start = beginning().plus_secs(f64::from(day) * 86_400.0);
            figures.days.asked += 1;
            let reply = ask(format!("What happened on {}?", written(start)))?;
            let summary = days.get(&start).map(|row| row.id);
            let shown =
                reply.evidence.iter().any(|one| one.memory.is_some() && one.memory == summary);
            figures.days.right += usize::from(shown && reply.answer.contains(&matter(day)));
        }
        figures.left = rows.len() as u64;
        figures.day_summaries = days.len();
        let summaries = rows.iter().filter(|row| row.kind == MemoryKind::Summary).count();
        figures.hour_summaries = summaries - days.len();
        let holds = |row: &&std::sync::Arc<MemoryRow>| {
            row.kind == MemoryKind::Reflection && row.valid_to.is_none()
        };
        figures.conclusions = rows.iter().filter(holds).count();
        let kept: BTreeSet<MemoryId> = rows.iter().map(|row| row.id).collect();
        let is_kept = |id: Option<MemoryId>| id.is_some_and(|id| kept.contains(&id));
        figures.recalled_stays = is_kept(self.favourite) && !is_kept(self.other);
        let verbatim = rows
            .iter()
            .filter(|row| row.kind == MemoryKind::Utterance && Some(row.id) != self.favourite);
        let oldest = verbatim.map(|row| row.span.start).min();
        figures.oldest_verbatim_days = oldest.map_or(0.0, |at| now.secs_since(at) / 86_400.0);
        Ok(())
    }
}

/// What a day is remembered by; no two days of a run of 192 share it.
fn matter(day: u32) -> String {
    let (what, which) = (day as usize % WHAT.len(), (day as usize / WHAT.len()) % WHICH.len());
    format!("{} {}", WHICH[which], WHAT[what])
}

/// "14 March 2026".
fn written(at: Timestamp) -> String {
    let date: Date = at.to_jiff().to_zoned(TimeZone::UTC).date();
    date.strftime("%-d %B %Y").to_string()
}

fn row(kind: MemoryKind, text: String, at: Timestamp, clip: Option<ClipId>) -> MemoryRow {
    let entities =
        crate::mention::mentions(&text).into_iter().map(|mention| mention.entity).collect();
    MemoryRow {
        id: MemoryId::default(),
        kind,
        text,
        span: Span::new(at, at.plus_secs(4.0)),
        clip,
        entities,
        fact: None,
        importance: 0.3,
        confidence: 0.9,
        pinned: false,
        valid_from: at,
        valid_to: None,
        grounds: Vec::new(),
        origin: "builtin".to_owned(),
    }
}

fn put(draft: &mut Draft, mut row: MemoryRow) -> MemoryId {
    row.id = draft.new_memory_id();
    let id = row.id;
    draft.memory(row, None);
    id
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The bar itself: prints the figures.
    #[test]
    #[ignore = "takes a minute"]
    fn a_year_stays_under_its_cap_and_still_answers() {
        let figures = measure(&Plan::default()).unwrap();
        println!("{}", serde_json::to_string_pretty(&figures).unwrap());
        assert!(figures.caps_written > 20.0 && figures.under_cap, "{figures:?}");
        let Asked { asked, right } = figures.told;
        assert_eq!((asked, right), (10, 10));
        assert!(figures.days.asked > 20 && figures.days.right == figures.days.asked, "{figures:?}");
        assert!(figures.recalled_stays && figures.conclusions > 0, "{figures:?}");
    }

    #[test]
    fn a_season_stays_under_its_cap_and_still_answers() {
        let plan = Plan { days: 60, clips_per_day: 24, memories_per_clip: 6, cap: 420 };
        let figures = measure(&plan).unwrap();
        assert!(figures.caps_written > 20.0 && figures.under_cap, "{figures:?}");
        assert_eq!(figures.told, Asked { asked: 10, right: 10 }, "{figures:?}");
        assert!(figures.days.asked == 5 && figures.days.right == 5, "{figures:?}");
        assert!(figures.recalled_stays, "{figures:?}");
        assert!(figures.rows_deleted > 0 && figures.most_rows < 4_000, "{figures:?}");
    }
}

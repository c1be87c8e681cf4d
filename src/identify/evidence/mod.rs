//! Signed evidence that a face and a voice are, or are not, one person; and faces that were seen at once.
//!
//! A second in which the voice is heard counts for each face that is visible (alone most: one over the
//! number of faces), and against each known face that is not, as long as a camera looked. Counting
//! co-occurrence alone would link a voice-over to the silent face it is laid over.
//!
//! Absence is reckoned, not written: each voice has a counter of the seconds it was heard while a camera looked, each pair
//! keeps where that stood when it began to tell about the face and for how many of its seconds the face was in view
//! ([`Presence`]). What is neither was absence. So a turn costs the faces in view, however many were ever met.
//!
//! Where a mouth was compared with the sound ([`Mouth`]), that decides what its visible second counts: a mouth that speaks
//! has the second for itself, a mouth that is shut has part of it against it, and where one speaks, nothing follows for
//! the unclear ones beside it.
//!
//! One occasion is one witness: a turn in which no mouth tells more counts no more for any face than a given number of
//! seconds. What is above that shrinks the whole turn, absence from it included, so that what an alias was seen in can still
//! be taken back. Where nobody is in view, and where a mouth speaks, every second counts. Whoever speaks may well be beside
//! the camera, and somebody else in view: so a pair also keeps how much of its support a mouth was seen to make, and in
//! which clips there was an occasion at all ([`Witnesses`]).
//!
//! More kinds of pairs share the row type: (face, voice) as above; (voice, the same voice): the counter; (face, face):
//! seconds both were seen at once in one camera, or in two that see different places (`separate_views` of the
//! configuration), evidence of being two people; likewise
//! (voice, another voice): seconds of speech that hearing a whole clip told apart, or in which both spoke at once on one
//! microphone.
//!
//! A face that the present model cannot match ([`super::persons::unmatchable`]) is not seen even where it is in view: seconds without
//! it say nothing. A face that is first met under that model is charged with no absence from before it.

mod badge;
pub(super) mod hear;
pub(super) mod introductions;
pub mod link;
mod name_words;
pub mod names;
pub(super) mod spellings;

use std::collections::{BTreeMap, BTreeSet};

use super::writer::IdentityWriter;
use crate::ids::{ClipId, EntityId, EntityKind};
use crate::memory::model::{PairEvidence, Presence};

/// Seconds for and against.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signed {
    /// For.
    pub support_secs: f64,
    /// Against.
    pub against_secs: f64,
}

impl Signed {
    /// For minus against, seconds.
    #[must_use]
    pub fn net(self) -> f64 {
        self.support_secs - self.against_secs
    }
}

/// What the support of a pair rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Witnesses {
    /// Seconds under a mouth that was seen to speak.
    pub clear_secs: f64,
    /// First and last clip in which an unclear mouth had seconds of the voice for itself.
    pub occasions: Option<(ClipId, ClipId)>,
}

impl Witnesses {
    /// Whether there were occasions in different clips.
    #[must_use]
    pub fn has_two_occasions(self) -> bool {
        self.occasions.is_some_and(|(first, last)| first != last)
    }

    fn include(&mut self, presence: &Presence) {
        self.clear_secs += presence.clear_secs;
        if let Some((first, last)) = presence.occasions {
            let (a, b) = self.occasions.unwrap_or((first, last));
            self.occasions = Some((a.min(first), b.max(last)));
        }
    }
}

/// What a face's mouth does while a voice is heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mouth {
    /// Not compared with the sound, or with no clear outcome.
    #[default]
    Unclear,
    /// It moves with the sound.
    Speaks,
    /// It does not.
    Silent,
    /// It looks silent, and nothing proves that it would look otherwise if it spoke: it speaks neither for nor against.
    Doubtful,
}

/// Mean log odds from which a mouth speaks, and up to which it is silent. LR-ASD was trained on AVA's films; these are set on
/// the turns of `two_people_dev` and `living_room_dev` (tuning data): mouths that spoke had 1.9 to 8.4, but for one miss at
/// -0.4 over 0.7 s; mouths that listened, or had a voice laid over them, -2.3 to 1.1, two thirds of them below -0.5. So one
/// that speaks is told, and a silent one only where no speaker was missed.
const SPEAKS: f32 = 1.5;
const SILENT: f32 = -0.75;
/// What a second under a silent mouth weighs against it, beside a second in which the face is away: a mouth may be hidden,
/// a face is there or not.
const SILENT_SHARE: f64 = 0.5;

impl Mouth {
    /// From mean log odds.
    #[must_use]
    pub fn of(log_odds: f32) -> Self {
        if log_odds >= SPEAKS {
            Self::Speaks
        } else if log_odds <= SILENT {
            Self::Silent
        } else {
            Self::Unclear
        }
    }
}

/// Part of a turn in which the same faces were visible.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moment {
    /// Speech, seconds.
    pub secs: f64,
    /// Faces in view.
    pub visible: BTreeMap<EntityId, Mouth>,
    /// Tracks in view that no face was given to yet.
    pub unknown: usize,
}

impl Moment {
    /// Faces whose mouth speaks.
    fn speaking(&self) -> usize {
        self.visible.values().filter(|mouth| **mouth == Mouth::Speaks).count()
    }

    /// What each unclear face in view has of it, seconds.
    fn unclear_secs(&self) -> f64 {
        let in_view = (self.visible.len() + self.unknown).max(1);
        if self.speaking() > 0 { 0.0 } else { self.secs / in_view as f64 }
    }
}

/// By how much a turn shrinks that may count no more than `witness_secs` for any unclear face: 1 where it need not.
fn witness_share(turn: &[Moment], witness_secs: f64) -> f64 {
    let mut unclear: BTreeMap<EntityId, f64> = BTreeMap::new();
    for moment in turn {
        for (face, _) in moment.visible.iter().filter(|(_, mouth)| **mouth == Mouth::Unclear) {
            *unclear.entry(*face).or_default() += moment.unclear_secs();
        }
    }
    let most = unclear.into_values().fold(0.0, f64::max);
    if most > witness_secs { witness_secs / most } else { 1.0 }
}

/// A turn in which an unclear mouth has less for itself is no occasion, seconds.
const OCCASION_SECS: f64 = 0.5;

/// A face and a voice.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    support_secs: f64,
    /// Under a silent mouth.
    silent_secs: f64,
    presence: Presence,
}

/// All evidence.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// By voice, then by face.
    of_voices: BTreeMap<EntityId, BTreeMap<EntityId, Pair>>,
    /// By voice, seconds heard while a camera looked, and of those the ones before the face model changed.
    counters: BTreeMap<EntityId, Signed>,
    /// Two faces, or two voices: seconds at once.
    together: BTreeMap<(EntityId, EntityId), Signed>,
    /// Faces and voices that were known before their model changed: whether they are unmatchable.
    standing: BTreeMap<EntityId, bool>,
    changed: BTreeSet<(EntityId, EntityId)>,
}

impl Evidence {
    /// From the rows. What older stores wrote with the absence in it is taken over: it is written anew with the next clip.
    pub(super) fn from_rows(rows: &[PairEvidence]) -> Self {
        let mut evidence = Self::default();
        let mut older = Vec::new();
        for row in rows {
            let signed = Signed { support_secs: row.support_secs, against_secs: row.against_secs };
            if let Some((part, lost)) = row.as_standing() {
                evidence.standing.insert(part, lost);
            } else if row.face == row.voice {
                evidence.counters.insert(row.voice, signed);
            } else if !row.is_face_and_voice() {
                evidence.together.insert((row.face, row.voice), signed);
            } else if let Some(presence) = row.presence {
                let (support_secs, silent_secs) = (row.support_secs, row.against_secs);
                let pair = Pair { support_secs, silent_secs, presence };
                evidence.of_voices.entry(row.voice).or_default().insert(row.face, pair);
            } else {
                older.push((row.face, row.voice, signed));
            }
        }
        for (face, voice, signed) in older {
            let visible_secs = signed.support_secs;
            let since_secs = evidence.counter(face, voice) - signed.against_secs - visible_secs;
            let presence = Presence { visible_secs, since_secs, ..Presence::default() };
            let pair = Pair { support_secs: visible_secs, silent_secs: 0.0, presence };
            evidence.of_voices.entry(voice).or_default().insert(face, pair);
            evidence.changed.insert((face, voice));
        }
        evidence
    }

    /// Whether the present model cannot match this face or voice.
    #[must_use]
    pub fn unmatchable(&self, part: EntityId) -> bool {
        self.standing.get(&part) == Some(&true)
    }

    /// The gallery of this face or voice learned from the present model: from now on absence counts again. Costs the voices
    /// that the face is paired with, once.
    pub(super) fn learned(&mut self, part: EntityId) {
        let Some(lost) = self.standing.get_mut(&part).filter(|lost| **lost) else { return };
        *lost = false;
        self.changed.insert((part, EntityId::ROBOT));
        for (voice, pairs) in &mut self.of_voices {
            let Some(pair) = pairs.get_mut(&part) else { continue };
            let counter = self.counters.get(voice).copied().unwrap_or_default();
            pair.presence.since_secs += counter.net();
            self.changed.insert((part, *voice));
        }
    }

    /// The voice's counter as far as it tells about that face: where nobody can see the face, up to when that began.
    fn counter(&self, face: EntityId, voice: EntityId) -> f64 {
        let heard = self.counters.get(&voice).copied().unwrap_or_default();
        if self.unmatchable(face) { heard.against_secs } else { heard.support_secs }
    }

    /// The pair before the face was ever seen with the voice: away as long as it could have been seen.
    fn unseen(&self, face: EntityId, voice: EntityId) -> Pair {
        let is_new = !self.standing.contains_key(&face);
        let heard = self.counters.get(&voice).copied().unwrap_or_default();
        let since_secs = if is_new { heard.against_secs } else { 0.0 };
        Pair { presence: Presence { since_secs, ..Presence::default() }, ..Pair::default() }
    }

    fn pair(&self, face: EntityId, voice: EntityId) -> Option<&Pair> {
        self.of_voices.get(&voice)?.get(&face)
    }

    /// The pair, to be changed.
    fn pair_mut(&mut self, face: EntityId, voice: EntityId) -> &mut Pair {
        let unseen = self.unseen(face, voice);
        self.changed.insert((face, voice));
        self.of_voices.entry(voice).or_default().entry(face).or_insert(unseen)
    }

    /// Seconds both faces were seen at once, or both voices told apart.
    #[must_use]
    pub fn together_secs(&self, a: EntityId, b: EntityId) -> f64 {
        self.together.get(&(a.min(b), a.max(b))).map_or(0.0, |signed| signed.against_secs)
    }

    /// The voice was heard in a turn of that clip, during which that was visible. It counts `witness_secs` at most for a face
    /// whose mouth is unclear. Costs the faces in view.
    pub(super) fn heard(
        &mut self,
        voice: EntityId,
        clip: ClipId,
        turn: &[Moment],
        witness_secs: f64,
    ) {
        let share = witness_share(turn, witness_secs);
        let mut unclear: BTreeMap<EntityId, f64> = BTreeMap::new();
        for moment in turn {
            let Moment { secs, visible, .. } = moment;
            let speaking = moment.speaking();
            for (face, mouth) in visible {
                let pair = self.pair_mut(*face, voice);
                pair.presence.visible_secs += share * secs;
                match mouth {
                    Mouth::Speaks => {
                        pair.support_secs += secs / speaking as f64;
                        pair.presence.clear_secs += secs / speaking as f64;
                    }
                    Mouth::Silent => pair.silent_secs += SILENT_SHARE * secs,
                    Mouth::Unclear => {
                        pair.support_secs += share * moment.unclear_secs();
                        *unclear.entry(*face).or_default() += share * moment.unclear_secs();
                    }
                    Mouth::Doubtful => {}
                }
            }
            self.counters.entry(voice).or_default().support_secs += share * secs;
            self.changed.insert((voice, voice));
        }
        for (face, _) in unclear.into_iter().filter(|(_, secs)| *secs >= OCCASION_SECS) {
            self.pair_mut(face, voice).presence.met_in(clip);
        }
    }

    /// A model believes that both are one person, which weighs as much as that many seconds; it is no occasion by itself.
    pub(super) fn believed(&mut self, face: EntityId, voice: EntityId, secs: f64) {
        self.pair_mut(face, voice).support_secs += secs;
    }

    /// Both faces were seen at once for that long, or both voices told apart.
    pub(super) fn together(&mut self, a: EntityId, b: EntityId, secs: f64) {
        let key = (a.min(b), a.max(b));
        self.together.entry(key).or_default().against_secs += secs;
        self.changed.insert(key);
    }

    /// The evidence between a face and a voice, each with all that was merged into it (itself first).
    ///
    /// Seconds that counted against the head face while one of its aliases was visible are taken back.
    #[must_use]
    pub fn between(&self, faces: &[EntityId], voices: &[EntityId]) -> Signed {
        let mut sum = Signed::default();
        let Some((head, aliases)) = faces.split_first() else { return sum };
        for voice in voices {
            let own = self.pair(*head, *voice).copied();
            let own = own.unwrap_or_else(|| self.unseen(*head, *voice));
            let Presence { visible_secs, since_secs, .. } = own.presence;
            let mut away = self.counter(*head, *voice) - since_secs - visible_secs;
            sum.support_secs += own.support_secs;
            sum.against_secs += own.silent_secs;
            for alias in aliases.iter().filter_map(|alias| self.pair(*alias, *voice)) {
                sum.support_secs += alias.support_secs;
                sum.against_secs += alias.silent_secs;
                away -= alias.presence.visible_secs;
            }
            sum.against_secs += away.max(0.0);
        }
        sum
    }

    /// What the support between a face and a voice rests on, each with all that was merged into it.
    #[must_use]
    pub fn witnesses(&self, faces: &[EntityId], voices: &[EntityId]) -> Witnesses {
        let mut found = Witnesses::default();
        let pairs = voices.iter().flat_map(|voice| faces.iter().map(move |face| (*face, *voice)));
        for pair in pairs.filter_map(|(face, voice)| self.pair(face, voice)) {
            found.include(&pair.presence);
        }
        found
    }

    /// The pairs that changed since they were written: faces with voices, two of a kind, or one with itself.
    pub(super) fn changed_pairs(&self) -> impl Iterator<Item = (EntityId, EntityId)> {
        self.changed.iter().copied().filter(|(_, b)| *b != EntityId::ROBOT)
    }

    /// Writes every pair that changed since the last time.
    pub(super) fn write(&mut self, writer: &mut dyn IdentityWriter) {
        for (face, voice) in std::mem::take(&mut self.changed) {
            let row = |of: &Signed| PairEvidence {
                face,
                voice,
                support_secs: of.support_secs,
                against_secs: of.against_secs,
                presence: None,
            };
            if voice == EntityId::ROBOT {
                writer.pair(PairEvidence::standing(face, self.unmatchable(face)));
            } else if face == voice {
                self.counters.get(&voice).into_iter().for_each(|of| writer.pair(row(of)));
            } else if face.kind == EntityKind::Face && voice.kind == EntityKind::Voice {
                if let Some(pair) = self.pair(face, voice) {
                    let (support_secs, against_secs) = (pair.support_secs, pair.silent_secs);
                    let presence = Some(pair.presence);
                    writer.pair(PairEvidence { face, voice, support_secs, against_secs, presence });
                }
            } else {
                self.together.get(&(face, voice)).into_iter().for_each(|of| writer.pair(row(of)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identify::testing::TestWriter;

    const VOICE: EntityId = EntityId::new(EntityKind::Voice, 1);
    const ANNA: EntityId = EntityId::new(EntityKind::Face, 1);
    const BEN: EntityId = EntityId::new(EntityKind::Face, 2);

    fn net(evidence: &Evidence, face: EntityId) -> f64 {
        evidence.between(&[face], &[VOICE]).net()
    }

    /// A clip of that index.
    fn clip(index: u32) -> ClipId {
        ClipId { index, ..ClipId::default() }
    }

    fn moment(secs: f64, seen: &[(EntityId, Mouth)]) -> Moment {
        Moment { secs, visible: seen.iter().copied().collect(), unknown: 0 }
    }

    fn heard(seen: &[(EntityId, Mouth)]) -> Evidence {
        let mut evidence = Evidence::default();
        evidence.heard(VOICE, clip(0), &[moment(4.0, seen)], f64::INFINITY);
        evidence
    }

    /// What these turns, of 2 s at most each, count for her, who is known already.
    fn told(mouth: Mouth, turns: &[&[Moment]]) -> Signed {
        let mut evidence = Evidence::default();
        evidence.heard(VOICE, clip(0), &[moment(0.0, &[(ANNA, mouth)])], 2.0);
        turns.iter().for_each(|turn| evidence.heard(VOICE, clip(0), turn, 2.0));
        evidence.between(&[ANNA], &[VOICE])
    }

    #[test]
    fn one_occasion_is_one_witness_unless_a_mouth_speaks_or_nobody_is_there() {
        let signed = |support_secs, against_secs| Signed { support_secs, against_secs };
        let (seen, away) = (moment(8.0, &[(ANNA, Mouth::Unclear)]), moment(4.0, &[]));
        let (once, alone) = ([away.clone(), seen], std::slice::from_ref(&away));
        assert_eq!(told(Mouth::Unclear, &[&once]), signed(2.0, 1.0), "the turn as a whole");
        assert_eq!(told(Mouth::Unclear, &[&once[1..], &once[1..]]), signed(4.0, 0.0), "twice");
        assert_eq!(told(Mouth::Unclear, &[alone]), signed(0.0, 4.0));
        let speaks = [away.clone(), moment(8.0, &[(ANNA, Mouth::Speaks)])];
        assert_eq!(told(Mouth::Speaks, &[&speaks]), signed(8.0, 4.0));
    }

    #[test]
    fn what_an_alias_was_seen_in_is_taken_back_also_from_a_long_turn() {
        let turn = [
            moment(2.0, &[(ANNA, Mouth::Unclear)]),
            moment(8.0, &[(BEN, Mouth::Unclear)]),
            moment(2.0, &[]),
        ];
        let mut evidence = Evidence::default();
        evidence.heard(VOICE, clip(0), &turn, 2.0);
        let both = evidence.between(&[ANNA, BEN], &[VOICE]);
        assert_eq!(both, Signed { support_secs: 2.5, against_secs: 0.5 });
        assert_eq!(evidence.between(&[BEN, ANNA], &[VOICE]), both);
    }

    #[test]
    fn of_two_who_are_seen_together_the_mouth_that_speaks_has_the_voice() {
        let unclear = heard(&[(ANNA, Mouth::Unclear), (BEN, Mouth::Unclear)]);
        assert_eq!((net(&unclear, ANNA), net(&unclear, BEN)), (2.0, 2.0));
        let told = heard(&[(ANNA, Mouth::Speaks), (BEN, Mouth::Silent)]);
        assert_eq!((net(&told, ANNA), net(&told, BEN)), (4.0, -2.0));
        let half = heard(&[(ANNA, Mouth::Speaks), (BEN, Mouth::Unclear)]);
        assert_eq!((net(&half, ANNA), net(&half, BEN)), (4.0, 0.0));
        let both = heard(&[(ANNA, Mouth::Speaks), (BEN, Mouth::Speaks)]);
        assert_eq!((net(&both, ANNA), net(&both, BEN)), (2.0, 2.0));
    }

    #[test]
    fn a_voice_over_a_silent_mouth_speaks_against_the_face_and_no_score_is_as_before() {
        assert_eq!(net(&heard(&[(ANNA, Mouth::Silent)]), ANNA), -2.0);
        assert_eq!(net(&heard(&[(ANNA, Mouth::Unclear)]), ANNA), 4.0);
        assert_eq!(net(&heard(&[(ANNA, Mouth::Speaks)]), ANNA), 4.0);
    }

    #[test]
    fn only_what_is_met_under_the_present_model_is_spared_the_absence_before_it() {
        let lost = EntityId::new(EntityKind::Face, 3);
        let pair = |face, support_secs, against_secs| PairEvidence {
            face,
            voice: VOICE,
            support_secs,
            against_secs,
            presence: None,
        };
        let rows = [
            pair(VOICE, 10.0, 10.0),
            pair(lost, 8.0, 1.0),
            PairEvidence::standing(lost, true),
            PairEvidence::standing(BEN, false),
        ];
        let mut evidence = Evidence::from_rows(&rows);
        assert!(evidence.unmatchable(lost) && !evidence.unmatchable(BEN));
        let seen = [moment(4.0, &[(ANNA, Mouth::Unclear), (BEN, Mouth::Unclear)])];
        evidence.heard(VOICE, clip(0), &seen, f64::INFINITY);
        assert_eq!(net(&evidence, ANNA), 2.0, "she is new");
        assert_eq!(net(&evidence, BEN), -8.0, "he could have been seen all the time");
        assert_eq!(net(&evidence, lost), 7.0, "nobody could see that face");
        evidence.learned(lost);
        evidence.heard(VOICE, clip(0), &seen, f64::INFINITY);
        assert_eq!(net(&evidence, lost), 3.0, "it can be seen again");
        let stranger = EntityId::new(EntityKind::Face, 4);
        assert_eq!(net(&evidence, stranger), -8.0, "heard since then");
    }

    #[test]
    fn a_turn_costs_who_is_in_view_and_nobody_who_was_ever_met() {
        let met = |n| EntityId::new(EntityKind::Face, n);
        let mut evidence = Evidence::default();
        for n in 10..10_010 {
            evidence.heard(VOICE, clip(0), &[moment(1.0, &[(met(n), Mouth::Unclear)])], 2.0);
        }
        let mut writer = TestWriter::default();
        evidence.write(&mut writer);
        writer.pairs.clear();
        let turn: Vec<Moment> = (0..20).map(|_| moment(0.1, &[(ANNA, Mouth::Unclear)])).collect();
        evidence.heard(VOICE, clip(1), &turn, 2.0);
        evidence.write(&mut writer);
        let written: Vec<_> = writer.pairs.keys().copied().collect();
        assert_eq!(written, [(ANNA, VOICE), (VOICE, VOICE)]);
        let away = evidence.between(&[met(10)], &[VOICE]).against_secs;
        assert!((away - 10_001.0).abs() < 1e-6, "{away}: it was away all the same");
    }

    #[test]
    fn what_an_older_store_wrote_is_taken_over_with_the_same_seconds() {
        let row = |face, voice, support_secs, against_secs| PairEvidence {
            face,
            voice,
            support_secs,
            against_secs,
            presence: None,
        };
        let rows =
            [row(VOICE, VOICE, 30.0, 0.0), row(ANNA, VOICE, 8.0, 6.5), row(BEN, VOICE, 0.0, 30.0)];
        let mut evidence = Evidence::from_rows(&rows);
        let told = |of: &Evidence| [ANNA, BEN].map(|face| of.between(&[face], &[VOICE]));
        let signed = |support_secs, against_secs| Signed { support_secs, against_secs };
        assert_eq!(told(&evidence), [signed(8.0, 6.5), signed(0.0, 30.0)]);
        assert!(!evidence.witnesses(&[ANNA], &[VOICE]).has_two_occasions(), "nobody knows");
        // It is written in the new form with the next clip; both forms are read alike.
        let mut writer = TestWriter {
            pairs: rows.map(|row| ((row.face, row.voice), row)).into(),
            ..TestWriter::default()
        };
        evidence.heard(VOICE, clip(4), &[moment(2.0, &[(ANNA, Mouth::Unclear)])], 2.0);
        evidence.write(&mut writer);
        assert_eq!(writer.pairs[&(BEN, VOICE)].against_secs, 0.0);
        let again = Evidence::from_rows(&writer.rows().pairs);
        assert_eq!(told(&again), [signed(10.0, 6.5), signed(0.0, 32.0)]);
        let summed = PairEvidence::summed(writer.rows().pairs);
        let against: Vec<f64> = summed.iter().take(2).map(|row| row.against_secs).collect();
        assert_eq!(against, [6.5, 32.0]);
    }

    #[test]
    fn an_occasion_is_a_clip_in_which_an_unclear_mouth_has_the_voice_for_itself() {
        let mut evidence = Evidence::default();
        let mut after = |index, secs, mouth| {
            evidence.heard(VOICE, clip(index), &[moment(secs, &[(ANNA, mouth)])], 2.0);
            evidence.witnesses(&[ANNA], &[VOICE])
        };
        let first = Some((clip(0), clip(0)));
        assert_eq!(after(0, 4.0, Mouth::Unclear).occasions, first);
        assert_eq!(after(0, 4.0, Mouth::Unclear).occasions, first, "the same clip");
        assert_eq!(after(1, 0.4, Mouth::Unclear).occasions, first, "too short");
        assert_eq!(after(1, 4.0, Mouth::Silent).occasions, first);
        assert_eq!(after(1, 4.0, Mouth::Doubtful).occasions, first);
        let clear = after(1, 3.0, Mouth::Speaks);
        assert_eq!((clear.occasions, clear.clear_secs), (first, 3.0));
        assert!(after(2, 4.0, Mouth::Unclear).has_two_occasions());
    }

    #[test]
    fn a_doubtful_mouth_speaks_neither_for_nor_against() {
        let told = heard(&[(ANNA, Mouth::Doubtful)]);
        let signed = told.between(&[ANNA], &[VOICE]);
        assert_eq!(signed, Signed::default());
        let half = heard(&[(ANNA, Mouth::Doubtful), (BEN, Mouth::Unclear)]);
        assert_eq!((net(&half, ANNA), net(&half, BEN)), (0.0, 2.0));
    }

    #[test]
    fn log_odds_around_even_say_nothing() {
        let mouths = [-3.0, -0.75, -0.5, 0.0, 1.4, 1.5, 4.0].map(Mouth::of);
        let wanted = [
            Mouth::Silent,
            Mouth::Silent,
            Mouth::Unclear,
            Mouth::Unclear,
            Mouth::Unclear,
            Mouth::Speaks,
            Mouth::Speaks,
        ];
        assert_eq!(mouths, wanted);
        assert_eq!(Mouth::of(f32::NAN), Mouth::Unclear);
    }
}

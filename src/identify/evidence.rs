//! Signed evidence that a face and a voice are, or are not, one person; and faces that were seen at once.
//!
//! A second in which the voice is heard counts for each face that is visible (alone most: one over the
//! number of faces), and against each known face that is not, as long as a camera looked. Counting
//! co-occurrence alone would link a voice-over to the silent face it is laid over.
//!
//! Where a mouth was compared with the sound ([`Mouth`]), that decides what its visible second counts: a mouth that speaks
//! has the second for itself, a mouth that is shut has part of it against it, and where one speaks, nothing follows for
//! the unclear ones beside it.
//!
//! One occasion is one witness: a turn in which no mouth tells more counts no more for any face than a given number of
//! seconds. What is above that shrinks the whole turn, absence from it included, so that what an alias was seen in can still
//! be taken back. Where nobody is in view, and where a mouth speaks, every second counts.
//!
//! Four kinds of pairs share one row type: (face, voice) as above; (voice, the same voice): seconds it was
//! heard while a camera looked, so that a face that comes late starts with all the absence before it;
//! (face, face): seconds both were seen at once in one camera, or in two that see different places (`separate_views` of the
//! configuration), evidence of being two people; likewise
//! (voice, another voice): seconds of speech that hearing a whole clip told apart, or in which both spoke at once on one
//! microphone.
//!
//! A face that the present model cannot match ([`super::unmatchable`]) is not seen even where it is in view: seconds without
//! it say nothing. A face that is first met under that model is charged with no absence from before it.

use std::collections::{BTreeMap, BTreeSet};

use super::ledger::Ledger;
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::PairEvidence;

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

/// All evidence.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pairs: BTreeMap<(EntityId, EntityId), Signed>,
    /// Faces and voices that were known before their model changed: whether they are unmatchable.
    standing: BTreeMap<EntityId, bool>,
    changed: BTreeSet<(EntityId, EntityId)>,
}

impl Evidence {
    pub(super) fn from_rows(rows: &[PairEvidence]) -> Self {
        let signed = |row: &PairEvidence| Signed {
            support_secs: row.support_secs,
            against_secs: row.against_secs,
        };
        let (standing, pairs): (Vec<&PairEvidence>, Vec<&PairEvidence>) =
            rows.iter().partition(|row| row.as_standing().is_some());
        Self {
            pairs: pairs.into_iter().map(|row| ((row.face, row.voice), signed(row))).collect(),
            standing: standing.into_iter().filter_map(PairEvidence::as_standing).collect(),
            changed: BTreeSet::new(),
        }
    }

    /// Whether the present model cannot match this face or voice.
    #[must_use]
    pub fn unmatchable(&self, part: EntityId) -> bool {
        self.standing.get(&part) == Some(&true)
    }

    /// The gallery of this face or voice learned from the present model.
    pub(super) fn learned(&mut self, part: EntityId) {
        if let Some(lost) = self.standing.get_mut(&part).filter(|lost| **lost) {
            *lost = false;
            self.changed.insert((part, EntityId::ROBOT));
        }
    }

    /// A face that was never seen with this voice: the seconds of the voice in which it could have been seen.
    fn absent(&self, face: EntityId, voice: EntityId) -> Signed {
        let Some(heard) = self.pairs.get(&(voice, voice)) else { return Signed::default() };
        // `against_secs` of a voice with itself: what was heard before the face model changed.
        let against_secs = match self.standing.get(&face) {
            Some(true) => heard.against_secs,
            Some(false) => heard.support_secs,
            None => heard.support_secs - heard.against_secs,
        };
        Signed { support_secs: 0.0, against_secs }
    }

    /// Seconds both faces were seen at once, or both voices told apart.
    #[must_use]
    pub fn together_secs(&self, a: EntityId, b: EntityId) -> f64 {
        self.pairs.get(&(a.min(b), a.max(b))).map_or(0.0, |signed| signed.against_secs)
    }

    /// The voice was heard in a turn, during which that was visible. It counts `witness_secs` at most for a face whose mouth
    /// is unclear.
    pub(super) fn heard(&mut self, voice: EntityId, turn: &[Moment], witness_secs: f64) {
        let share = witness_share(turn, witness_secs);
        for moment in turn {
            self.heard_while(voice, moment, share);
        }
    }

    fn heard_while(&mut self, voice: EntityId, moment: &Moment, share: f64) {
        let Moment { secs, visible, .. } = moment;
        let speaking = moment.speaking();
        for (face, mouth) in visible {
            let absent = self.absent(*face, voice);
            let pair = self.pairs.entry((*face, voice)).or_insert(absent);
            match mouth {
                Mouth::Speaks => pair.support_secs += secs / speaking as f64,
                Mouth::Silent => pair.against_secs += SILENT_SHARE * secs,
                Mouth::Unclear => pair.support_secs += share * moment.unclear_secs(),
            }
            self.changed.insert((*face, voice));
        }
        for (key, pair) in &mut self.pairs {
            let face = key.1 == voice && key.0.kind == EntityKind::Face;
            let missed = face && !visible.contains_key(&key.0);
            if missed && self.standing.get(&key.0) != Some(&true) {
                pair.against_secs += share * secs;
                self.changed.insert(*key);
            }
        }
        self.pairs.entry((voice, voice)).or_default().support_secs += share * secs;
        self.changed.insert((voice, voice));
    }

    /// A model believes that both are one person, which weighs as much as that many seconds.
    pub(super) fn believed(&mut self, face: EntityId, voice: EntityId, secs: f64) {
        let absent = self.absent(face, voice);
        self.pairs.entry((face, voice)).or_insert(absent).support_secs += secs;
        self.changed.insert((face, voice));
    }

    /// Both faces were seen at once for that long, or both voices told apart.
    pub(super) fn together(&mut self, a: EntityId, b: EntityId, secs: f64) {
        let key = (a.min(b), a.max(b));
        self.pairs.entry(key).or_default().against_secs += secs;
        self.changed.insert(key);
    }

    /// The faces and voices between which there is anything for being one person.
    pub(super) fn supported(&self) -> impl Iterator<Item = (EntityId, EntityId)> {
        let between = |key: &(EntityId, EntityId)| {
            key.0.kind == EntityKind::Face && key.1.kind == EntityKind::Voice
        };
        let all = self
            .pairs
            .iter()
            .filter(move |(key, signed)| between(key) && signed.support_secs > 0.0);
        all.map(|(key, _)| *key)
    }

    /// The evidence between a face and a voice, each with all that was merged into it (itself first).
    ///
    /// Seconds that counted against the head face while one of its aliases was visible are taken back.
    #[must_use]
    pub fn between(&self, faces: &[EntityId], voices: &[EntityId]) -> Signed {
        let mut sum = Signed::default();
        for voice in voices {
            let pair = |face: &EntityId| self.pairs.get(&(*face, *voice)).copied();
            let Some((head, aliases)) = faces.split_first() else { break };
            let own = pair(head).unwrap_or_else(|| self.absent(*head, *voice));
            let others: f64 = aliases.iter().filter_map(pair).map(|s| s.support_secs).sum();
            sum.support_secs += own.support_secs + others;
            sum.against_secs += (own.against_secs - others).max(0.0);
        }
        sum
    }

    /// Writes every pair that changed since the last time.
    pub(super) fn write(&mut self, ledger: &mut dyn Ledger) {
        for key in std::mem::take(&mut self.changed) {
            if key.1 == EntityId::ROBOT {
                ledger.pair(PairEvidence::standing(key.0, self.unmatchable(key.0)));
            } else if let Some(signed) = self.pairs.get(&key) {
                ledger.pair(PairEvidence {
                    face: key.0,
                    voice: key.1,
                    support_secs: signed.support_secs,
                    against_secs: signed.against_secs,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOICE: EntityId = EntityId::new(EntityKind::Voice, 1);
    const ANNA: EntityId = EntityId::new(EntityKind::Face, 1);
    const BEN: EntityId = EntityId::new(EntityKind::Face, 2);

    fn net(evidence: &Evidence, face: EntityId) -> f64 {
        evidence.between(&[face], &[VOICE]).net()
    }

    fn moment(secs: f64, seen: &[(EntityId, Mouth)]) -> Moment {
        Moment { secs, visible: seen.iter().copied().collect(), unknown: 0 }
    }

    fn heard(seen: &[(EntityId, Mouth)]) -> Evidence {
        let mut evidence = Evidence::default();
        evidence.heard(VOICE, &[moment(4.0, seen)], f64::INFINITY);
        evidence
    }

    /// What these turns, of 2 s at most each, count for her, who is known already.
    fn told(mouth: Mouth, turns: &[&[Moment]]) -> Signed {
        let mut evidence = Evidence::default();
        evidence.heard(VOICE, &[moment(0.0, &[(ANNA, mouth)])], 2.0);
        turns.iter().for_each(|turn| evidence.heard(VOICE, turn, 2.0));
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
        evidence.heard(VOICE, &turn, 2.0);
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
        evidence.heard(VOICE, &seen, f64::INFINITY);
        assert_eq!(net(&evidence, ANNA), 2.0, "she is new");
        assert_eq!(net(&evidence, BEN), -8.0, "he could have been seen all the time");
        assert_eq!(net(&evidence, lost), 7.0, "nobody could see that face");
        evidence.learned(lost);
        evidence.heard(VOICE, &seen, f64::INFINITY);
        assert_eq!(net(&evidence, lost), 3.0, "it can be seen again");
        let stranger = EntityId::new(EntityKind::Face, 4);
        assert_eq!(net(&evidence, stranger), -8.0, "heard since then");
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

//! Entities that turn out to be one, and voices that find their face.

use std::collections::{BTreeMap, BTreeSet};

use super::membership;
use crate::identify::evidence::introductions::{Introductions, Naming};
use crate::identify::evidence::link;
use crate::identify::identified::IdentifiedClip;
use crate::identify::matching::similar_pairs::SimilarPairs;
use crate::identify::matching::thresholds::{MatchThresholds, TOGETHER_SECS};
use crate::identify::resolver::Resolver;
use crate::identify::writer::IdentityWriter;
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{Membership, Merge};

/// How much more alike two must be for every second that they were seen or heard at once.
const UNLIKE_PER_SEC: f32 = 0.1;

/// Faces or voices that are no alias, each with all that was merged into it (itself first).
type Groups = BTreeMap<EntityId, Vec<EntityId>>;

impl Resolver {
    /// What changed in the evidence since it was written ties faces to voices, and makes those it is about be looked at.
    pub(in crate::identify) fn take_in_evidence(&mut self) {
        for (a, b) in self.evidence.changed_pairs() {
            self.undecided.touched.extend([a, b]);
            if a.kind != b.kind && self.evidence.between(&[a], &[b]).support_secs > 0.0 {
                self.ties.add(a, b);
            }
        }
    }

    /// The counterparts that anything speaks for, of a face or voice with all that was merged into it, merges resolved.
    fn tied_to(&self, group: &[EntityId]) -> BTreeSet<EntityId> {
        let with = group.iter().filter_map(|id| self.ties.0.get(id)).flatten();
        with.map(|id| self.persons.resolve(*id)).collect()
    }

    /// Merges faces, then voices, whose galleries are clearly one; or nearly so, when the signed evidence
    /// ties both to the same counterpart. Looks at those of whom something changed.
    pub(in crate::identify) fn merge_galleries(
        &mut self,
        writer: &mut dyn IdentityWriter,
        out: &mut IdentifiedClip,
    ) {
        self.take_in_evidence();
        for kind in [EntityKind::Face, EntityKind::Voice] {
            let least = self.thresholds(kind).maybe;
            // Nobody measured what the likenesses of this model say, or none runs: all stays open.
            if least <= MatchThresholds::UNKNOWN.maybe {
                continue;
            }
            self.renew_owners();
            let mut likenesses = SimilarPairs::default();
            likenesses.compare(self, kind, self.undecided.touched.iter().copied(), least);
            while let Some((a, b, reason)) = self.same_entity(kind, &likenesses) {
                let (into, from) = (a.min(b), a.max(b));
                let merge = Merge { from, into, reason: reason.clone(), decreed: false };
                let persons = (self.persons.person_of(into), self.persons.person_of(from));
                self.persons.merge(merge.clone(), writer);
                out.merges.push(merge);
                if let (Some(x), Some(y)) = persons
                    && x != y
                {
                    let stays = self.persons.unite(x, y, &reason, writer);
                    let gone = if stays == x { y } else { x };
                    let merge = Merge { from: gone, into: stays, reason, decreed: false };
                    out.merges.push(merge);
                }
                // What speaks for the one may tie the other to a third.
                self.renew_owners();
                let person = self.persons.person_of(into);
                let parts = person.into_iter().flat_map(|person| self.persons.all_parts(person));
                likenesses.compare(self, kind, parts.chain([into]), least);
            }
        }
    }

    /// The most alike pair of galleries that are one.
    fn same_entity(
        &self,
        kind: EntityKind,
        likenesses: &SimilarPairs,
    ) -> Option<(EntityId, EntityId, String)> {
        let thresholds = self.thresholds(kind);
        let names = Introductions::of(&self.persons);
        let mut best: Option<(f32, EntityId, EntityId, String)> = None;
        for ((a, b), similarity) in likenesses.of_heads(self) {
            if best.as_ref().is_some_and(|b| b.0 >= similarity) {
                continue;
            }
            // What is of another model has other likenesses, to which these thresholds say nothing.
            let (Some(in_a), Some(in_b)) = (self.matchable(a), self.matchable(b)) else { continue };
            let apart: f64 = in_a
                .iter()
                .flat_map(|f| in_b.iter().map(|g| self.evidence.together_secs(*f, *g)))
                .sum();
            // What is dear to find out comes last: most pairs are alike by chance, and nothing else ties them.
            let alone = thresholds.merge - Naming::Same.spares(&thresholds);
            let tie = (apart <= TOGETHER_SECS).then(|| self.tied(kind, &in_a, &in_b));
            let tie = tie.flatten();
            if similarity < alone + UNLIKE_PER_SEC * apart as f32 && tie.is_none() {
                continue;
            }
            let persons = (self.persons.person_of(a), self.persons.person_of(b));
            let (Some(x), Some(y)) = persons else { continue };
            if x != y && !self.persons.may_merge(x, y) {
                continue;
            }
            let naming = match x == y {
                true => Naming::Silent,
                false => self.heeded(names.of_persons(x, y), x, y),
            };
            let (spared, named) = (naming.spares(&thresholds), naming.reason());
            // Strong evidence, no verdict: a reflection, or one face found twice, is beside itself, too.
            let needed = thresholds.merge - spared + UNLIKE_PER_SEC * apart as f32;
            let reason = if similarity >= needed {
                format!("{a} and {b} are alike: cosine {similarity:.2} of {needed:.2}{named}")
            } else if similarity < thresholds.maybe - spared.min(0.0) {
                continue;
            } else if let Some(tie) = tie {
                format!("{a} and {b} are nearly alike (cosine {similarity:.2}) and {tie}{named}")
            } else {
                continue;
            };
            best = Some((similarity, a, b, reason));
        }
        best.map(|(_, a, b, reason)| (a, b, reason))
    }

    /// Both entities are tied to the same counterpart, each by enough evidence of its own.
    fn tied(&self, kind: EntityKind, in_a: &[EntityId], in_b: &[EntityId]) -> Option<String> {
        let need = self.settings.link_secs;
        let faces = kind == EntityKind::Face;
        let (of_a, of_b) = (self.tied_to(in_a), self.tied_to(in_b));
        let both: Vec<EntityId> = in_a.iter().chain(in_b).copied().collect();
        let between = |mine: &[EntityId], other: &[EntityId]| {
            if faces {
                self.evidence.between(mine, other)
            } else {
                self.evidence.between(other, mine)
            }
        };
        for head in of_a.intersection(&of_b) {
            let members = &self.persons.group_of(*head);
            if members.is_empty() {
                continue;
            }
            let (x, y) = (between(in_a, members), between(in_b, members));
            let own = if faces { x.support_secs.min(y.support_secs) } else { x.net().min(y.net()) };
            let joint = between(&both, members);
            if own >= need && joint.net() >= 2.0 * need {
                return Some(format!(
                    "both go with {head}: {:.1} s for, {:.1} s against",
                    joint.support_secs, joint.against_secs
                ));
            }
        }
        None
    }

    /// Gives voices to faces by the evidence; `new` are entities of this clip that have no person yet.
    ///
    /// What is unmatchable keeps what it has and competes for nothing: the voice of a face that cannot be seen may get the
    /// face that is seen in its place, and the other way round.
    pub(in crate::identify) fn link_voices(
        &mut self,
        new: &[EntityId],
        writer: &mut dyn IdentityWriter,
        out: &mut IdentifiedClip,
    ) {
        self.renew_owners();
        self.take_in_evidence();
        let touched = std::mem::take(&mut self.undecided.touched);
        let (faces, voices) = self.concerned(touched, new);
        let mut candidates: Vec<link::Candidate> = Vec::new();
        let mut current: BTreeMap<EntityId, BTreeSet<EntityId>> = BTreeMap::new();
        let names = Introductions::of(&self.persons);
        let mut named: BTreeMap<(EntityId, EntityId), &str> = BTreeMap::new();
        for (voice, voice_members) in &voices {
            let owner = self.persons.person_of(*voice);
            let near = self.faces_of(*voice, voice_members);
            for face in near.iter().flatten().collect::<BTreeSet<_>>() {
                let Some(face_members) = faces.get(face) else { continue };
                let holder = self.persons.person_of(*face);
                let linked = owner.is_some() && owner == holder;
                let allowed = match (owner, holder) {
                    (Some(x), Some(y)) => linked || self.persons.may_merge(x, y),
                    _ => !self.persons.decreed(*voice),
                };
                let naming = match (owner, holder) {
                    (Some(x), Some(y)) => self.heeded(names.of_voice(*voice, y), x, y),
                    _ => Naming::Silent,
                };
                named.insert((*face, *voice), naming.reason());
                let seen = self.evidence.between(face_members, voice_members);
                let evidence = naming.added_to(seen, self.settings.link_secs);
                if linked {
                    current.entry(*voice).or_default().insert(*face);
                }
                if linked || allowed && evidence.support_secs > 0.0 {
                    candidates.push(link::Candidate {
                        face: *face,
                        voice: *voice,
                        evidence,
                        witnesses: self.evidence.witnesses(face_members, voice_members),
                        same_name: naming == Naming::Same,
                    });
                }
            }
        }
        let links = link::assign(&candidates, &current, self.settings.link_secs);
        let wanted: BTreeMap<EntityId, link::Link> =
            links.into_iter().map(|link| (link.voice, link)).collect();

        let holds = |link: &link::Link| {
            current.get(&link.voice).is_some_and(|faces| faces.contains(&link.face))
        };
        let decreed =
            |link: &link::Link| self.persons.decreed(link.voice) && self.persons.decreed(link.face);
        let taken: BTreeMap<EntityId, EntityId> = wanted
            .values()
            .filter(|link| !holds(link) && !decreed(link))
            .map(|link| (link.face, link.voice))
            .collect();

        // first the links that no longer hold, then the new ones
        for (voice, held) in &current {
            if wanted.get(voice).is_some_and(|link| held.contains(&link.face)) {
                continue;
            }
            if self.persons.decreed(*voice) {
                continue;
            }
            let against = held.first().and_then(|face| {
                let of = candidates.iter().find(|of| of.face == *face && of.voice == *voice);
                of.map(|of| (face, of.evidence))
            });
            let Some((face, signed)) = against else { continue };
            // A voice in fragments has several; another's is one too many for a face.
            let rival = taken.get(face).filter(|rival| {
                held.iter().all(|face| taken.contains_key(face))
                    && self.are_unlike(&voices[voice], &voices[*rival])
            });
            let nothing_better = rival.is_none() && !wanted.contains_key(voice);
            if signed.net() > -self.settings.link_secs && nothing_better {
                continue; // and nothing speaks against it: it stays
            }
            let reason = format!(
                "{voice} is not {face}: {:.1} s for, {:.1} s against{}{}",
                signed.support_secs,
                signed.against_secs,
                rival.map_or_else(String::new, |rival| format!("; {rival} has it now")),
                named.get(&(*face, *voice)).copied().unwrap_or_default()
            );
            self.unlink(*voice, *face, &reason, writer, out);
        }
        for (voice, link) in wanted {
            let held = current.get(&voice).is_some_and(|faces| faces.contains(&link.face));
            if held || self.persons.decreed(voice) && self.persons.decreed(link.face) {
                continue;
            }
            let clear = match link.witnesses.clear_secs {
                secs if secs > 0.0 => format!(" ({secs:.1} s with its mouth)"),
                _ => String::new(),
            };
            let reason = format!(
                "{voice} goes with {}: {:.1} s for{clear}, {:.1} s against, {:.1} s ahead of the next{}",
                link.face,
                link.evidence.support_secs,
                link.evidence.against_secs,
                link.margin_secs,
                named.get(&(link.face, voice)).copied().unwrap_or_default()
            );
            self.link(voice, link.face, reason, new, writer, out);
        }
    }

    /// The faces that something may speak for as a voice's (which is no alias): seen with it, of its person, of whoever is
    /// called as it called itself.
    fn faces_of(&self, voice: EntityId, members: &[EntityId]) -> [BTreeSet<EntityId>; 3] {
        let of = |person: EntityId| self.persons.parts(person, EntityKind::Face);
        let owner = self.persons.person_of(voice);
        let called = Introductions::of(&self.persons).called_like(voice, &self.spelt);
        [
            self.tied_to(members),
            owner.into_iter().flat_map(of).collect(),
            called.into_iter().flat_map(of).collect(),
        ]
    }

    /// The voices for which the same holds of a face.
    fn voices_of(&self, face: EntityId, members: &[EntityId]) -> BTreeSet<EntityId> {
        let mut voices = self.tied_to(members);
        if let Some(holder) = self.persons.person_of(face) {
            voices.extend(self.persons.parts(holder, EntityKind::Voice));
            voices.extend(Introductions::of(&self.persons).voices_like(holder, &self.spelt));
        }
        voices
    }

    /// The faces and voices that compete with one of the touched ones, or with one that competes with it, each with all that
    /// was merged into it: what the others have is no matter of theirs.
    fn concerned(&self, touched: BTreeSet<EntityId>, new: &[EntityId]) -> (Groups, Groups) {
        let (mut faces, mut voices) = (Groups::new(), Groups::new());
        let mut open: Vec<EntityId> = touched.into_iter().chain(new.iter().copied()).collect();
        while let Some(id) = open.pop() {
            let head = self.persons.resolve(id);
            let of = match head.kind {
                EntityKind::Face => &mut faces,
                EntityKind::Voice => &mut voices,
                _ => continue,
            };
            if of.contains_key(&head) {
                continue;
            }
            let group = match self.matchable(head) {
                Some(group) => group,
                None if new.contains(&head) => vec![head],
                None => continue,
            };
            match head.kind {
                EntityKind::Face => open.extend(self.voices_of(head, &group)),
                _ => open.extend(self.faces_of(head, &group).into_iter().flatten()),
            }
            of.insert(head, group);
        }
        (faces, voices)
    }

    /// Whether two voices, each with all that was merged into it, are not even nearly alike; of what has no exemplars nobody
    /// can tell.
    fn are_unlike(&self, a: &[EntityId], b: &[EntityId]) -> bool {
        let (mine, theirs) = (self.galleries_of(a), self.galleries_of(b));
        let all = mine.iter().flat_map(|x| theirs.iter().map(|y| x.similarity(y)));
        let maybe = self.thresholds(EntityKind::Voice).maybe;
        all.reduce(f32::max).is_some_and(|most| most < maybe)
    }

    fn link(
        &mut self,
        voice: EntityId,
        face: EntityId,
        reason: String,
        new: &[EntityId],
        writer: &mut dyn IdentityWriter,
        out: &mut IdentifiedClip,
    ) {
        if self.persons.person_of(face).is_none() && self.persons.person_of(voice).is_none() {
            let person = writer.mint(EntityKind::Person);
            let first = new.iter().find(|id| **id == face || **id == voice);
            let met = first.map_or_else(String::new, |id| format!("{id} is first met, "));
            self.persons.enter(membership(face, person, format!("{met}{reason}")), writer);
            out.new_persons.push(person);
        }
        let row = match (self.persons.person_of(face), self.persons.person_of(voice)) {
            (Some(person), None) => Some(membership(voice, person, reason)),
            (None, Some(person)) => Some(membership(face, person, reason)),
            (Some(x), Some(y)) if x != y => {
                let stays = self.persons.unite(x, y, &reason, writer);
                let from = if stays == x { y } else { x };
                out.merges.push(Merge {
                    from,
                    into: stays,
                    reason: reason.clone(),
                    decreed: false,
                });
                out.links.push(membership(voice, stays, reason));
                None
            }
            _ => None,
        };
        if let Some(row) = row {
            self.persons.enter(row.clone(), writer);
            out.links.push(Membership { part: voice, ..row });
        }
    }

    /// The voice leaves the face's person; where it is all that tells of a face that cannot be matched now, the other face
    /// leaves.
    fn unlink(
        &mut self,
        voice: EntityId,
        face: EntityId,
        reason: &str,
        writer: &mut dyn IdentityWriter,
        out: &mut IdentifiedClip,
    ) {
        let own = |part| self.persons.membership(part).map(|row| row.person);
        let (Some(of_voice), Some(of_face)) = (own(voice), own(face)) else { return };
        let lost =
            |part: &EntityId| part.kind == EntityKind::Face && self.evidence.unmatchable(*part);
        let keeps_a_face = |person: &EntityId| self.persons.all_parts(*person).iter().any(lost);
        let stays = self.persons.person_of(voice).filter(keeps_a_face);
        let (leaves, of_leaving, of_staying) = match stays {
            Some(person) if !self.persons.decreed(face) => (face, of_face, person),
            _ => (voice, of_voice, of_face),
        };
        if of_leaving != of_staying {
            // they were two persons once: the merge between them is taken back
            let merge = self.persons.merge_between(of_leaving, of_staying);
            if !merge.is_some_and(|merge| self.persons.undo(merge, false, writer)) {
                return; // the user's own merge
            }
        } else {
            let person = writer.mint(EntityKind::Person);
            self.persons.enter(membership(leaves, person, reason.to_owned()), writer);
            out.new_persons.push(person);
        }
        if let Some(person) = self.persons.person_of(voice) {
            out.links.push(membership(voice, person, reason.to_owned()));
        }
    }
}

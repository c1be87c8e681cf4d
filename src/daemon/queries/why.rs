//! Why somebody is taken for one person: memberships, merges, evidence, pictures and sounds, names.

use serde_json::{Value, json};

use crate::identify::{Introductions, who_is_who};
use crate::ids::{EntityId, EntityKind};
use crate::memory::View;
use crate::memory::model::NameRow;

/// The reasons for all that is one with `id`, oldest id first.
pub(super) fn why(view: &View, id: EntityId) -> Value {
    let all = view.same_as(id);
    let parts = view.parts_of(id);
    let parts_of: Vec<Value> = view
        .memberships()
        .iter()
        .filter(|row| parts.contains(&row.part))
        .map(|row| {
            let exemplars = view.exemplars(row.part);
            json!({
                "part": row.part,
                "person": row.person,
                "reason": row.reason,
                "decreed": row.decreed,
                "exemplars": exemplars.len(),
                "media": exemplars.iter().filter_map(|e| e.media.clone()).collect::<Vec<_>>(),
            })
        })
        .collect();
    let merges: Vec<Value> = view
        .merges()
        .iter()
        .filter(|row| all.contains(&row.from))
        .map(|row| {
            json!({ "from": row.from, "into": row.into, "reason": row.reason, "decreed": row.decreed })
        })
        .collect();
    let book = who_is_who(view);
    let introductions = Introductions::of(&book);
    let mut links = Vec::new();
    let mut different = Vec::new();
    for pair in view.summed_evidence() {
        let (a, b) = (pair.face, pair.voice);
        let told = pair.as_standing().is_some() || a == b;
        if told || !parts.contains(&a) && !parts.contains(&b) {
            continue;
        }
        if a.kind == EntityKind::Face && b.kind == EntityKind::Voice {
            let naming = introductions.of_voice(book.resolve(b), view.resolve(a));
            links.push(json!({
                "face": a,
                "voice": b,
                "support_secs": pair.support_secs,
                "against_secs": pair.against_secs,
                "same_person": view.resolve(a) == view.resolve(b),
                "names": naming.word(),
            }));
        } else {
            different.push(json!({ "a": a, "b": b, "secs": pair.against_secs }));
        }
    }
    let name = |row: &NameRow| {
        let by = book.speaker(row);
        json!({ "name": row.name, "source": row.source, "since": row.since, "by": by })
    };
    let names: Vec<Value> = view.names(id).iter().map(|row| name(row)).collect();
    let mut document = json!({
        "id": view.resolve(id),
        "name": names.first().map(|row| row["name"].clone()),
        "names": names,
        "parts": parts_of,
        "merges": merges,
        "links": links,
        "different": different,
        "same_name": introductions.namesakes(view.resolve(id)),
    });
    let unmatchable = view.person(id).unmatchable;
    if !unmatchable.is_empty() {
        document["unmatchable"] = json!(unmatchable);
    }
    document
}

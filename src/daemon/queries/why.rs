//! Why somebody is taken for one person: memberships, merges, evidence, pictures and sounds, names.

use serde_json::{Value, json};

use crate::ids::{EntityId, EntityKind};
use crate::memory::View;

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
    let mut links = Vec::new();
    let mut different = Vec::new();
    for pair in view.evidence() {
        let (a, b) = (pair.face, pair.voice);
        let told = pair.as_standing().is_some() || a == b;
        if told || !parts.contains(&a) && !parts.contains(&b) {
            continue;
        }
        if a.kind == EntityKind::Face && b.kind == EntityKind::Voice {
            links.push(json!({
                "face": a,
                "voice": b,
                "support_secs": pair.support_secs,
                "against_secs": pair.against_secs,
                "same_person": view.resolve(a) == view.resolve(b),
            }));
        } else {
            different.push(json!({ "a": a, "b": b, "secs": pair.against_secs }));
        }
    }
    let names: Vec<Value> = view
        .names(id)
        .iter()
        .map(|row| json!({ "name": row.name, "source": row.source, "since": row.since }))
        .collect();
    let mut document = json!({
        "id": view.resolve(id),
        "name": names.first().map(|row| row["name"].clone()),
        "names": names,
        "parts": parts_of,
        "merges": merges,
        "links": links,
        "different": different,
    });
    let unmatchable = view.person(id).unmatchable;
    if !unmatchable.is_empty() {
        document["unmatchable"] = json!(unmatchable);
    }
    document
}

//! The bytes of a face, a frame or a sound.

use serde::Deserialize;

use super::find::find;
use super::refusal::refusal;
use crate::ids::{ClipId, EntityKind, TurnId};
use crate::memory::model::{MediaDigest, MediaKind};
use crate::memory::{Memory, View};
use crate::mqtt::Refusal;

/// Larger files are not sent.
pub const MAX_MEDIA_BYTES: usize = 256 * 1000;

/// Exactly one of these, but `turn` with `clip`.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(super) struct MediaArgs {
    /// A file by its digest.
    digest: Option<String>,
    /// The best face crop (a face, a person) or the best sound (a voice).
    entity: Option<String>,
    /// The first key frame of a clip, or the clip of `turn`.
    clip: Option<ClipId>,
    /// The sound of a turn of `clip`'s session.
    turn: Option<TurnId>,
}

/// MIME type and bytes.
pub(super) fn media(
    memory: &Memory,
    view: &View,
    args: MediaArgs,
) -> Result<(&'static str, Vec<u8>), Refusal> {
    let digest = digest(view, &args)?;
    let none = |what: &str| Refusal::not_found(format!("no {what} is kept of it"));
    let digest = digest.ok_or_else(|| none("picture or sound"))?;
    let row = view.media_row(&digest).ok_or_else(|| none("media file of that digest"))?;
    let bytes = memory.media(&digest).map_err(|error| refusal(&error))?;
    let bytes = bytes.ok_or_else(|| {
        Refusal::not_found("the file was given up for the size cap (store.media_cap_mb)")
    })?;
    if bytes.len() > MAX_MEDIA_BYTES {
        return Err(Refusal::too_large(format!(
            "the file has {} bytes, more than the {MAX_MEDIA_BYTES} that are sent; it lies in media/ of the store",
            bytes.len()
        )));
    }
    let content_type = match row.kind {
        MediaKind::FaceChip | MediaKind::KeyFrame => "image/jpeg",
        MediaKind::Speech => "audio/wav",
    };
    Ok((content_type, bytes))
}

fn digest(view: &View, args: &MediaArgs) -> Result<Option<MediaDigest>, Refusal> {
    match args {
        MediaArgs { digest: Some(digest), entity: None, clip: None, turn: None } => {
            let digest = MediaDigest(digest.as_str().into());
            if digest.is_valid() {
                Ok(Some(digest))
            } else {
                Err(Refusal::bad_request("`digest` must be 64 hex digits"))
            }
        }
        MediaArgs { digest: None, entity: Some(word), clip: None, turn: None } => {
            let id = find(view, word)?;
            // A voice that was named as such gives its sound, everybody else the face.
            let voice = word.trim().starts_with(EntityKind::Voice.word());
            let wanted = if voice { EntityKind::Voice } else { EntityKind::Face };
            let parts = view.parts_of(id).into_iter().filter(|part| part.kind == wanted);
            let best = parts
                .flat_map(|part| view.exemplars(part))
                .filter(|one| one.media.is_some())
                .max_by(|a, b| a.quality.total_cmp(&b.quality));
            Ok(best.and_then(|one| one.media.clone()))
        }
        MediaArgs { digest: None, entity: None, clip: Some(clip), turn: Some(turn) } => {
            let row = view.turn(clip.session, *turn);
            let row = row.ok_or_else(|| {
                Refusal::not_found(format!("there is no {turn} in {}", clip.session))
            })?;
            Ok(row.sound.clone())
        }
        MediaArgs { digest: None, entity: None, clip: Some(clip), turn: None } => {
            let row = view.clip(*clip);
            let row = row.ok_or_else(|| Refusal::not_found(format!("there is no clip {clip}")))?;
            Ok(row.key_frames.first().map(|(_, _, digest)| digest.clone()))
        }
        _ => Err(Refusal::bad_request(
            "give one of `digest`, `entity`, `clip`, or `clip` with `turn`",
        )),
    }
}

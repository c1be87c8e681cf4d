//! People followed as bodies: from behind, from the side, far away, with no face to be seen.
//!
//! What finds things finds people, too (`perceive::object` runs one network for both); in time order and one camera at a time
//! [`BodyTracker`] makes tracks of them. Who somebody is, a body never tells: `identify` gives it the person whose face was seen
//! on it, as long as its track goes on. So a track may end too early, and must never go over from one person to another:
//! where two come so close that they could be exchanged, both tracks end.

mod clothes;
mod track;

pub use clothes::clothes;
pub use track::{BodyHistory, BodyTracker};

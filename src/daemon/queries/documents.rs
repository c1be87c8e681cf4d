//! Documents that are remembered.

use serde::{Deserialize, Serialize};

use crate::memory::{Document, View};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentsArgs {}

/// The reply to `documents`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Documents {
    /// By name.
    pub documents: Vec<Document>,
}

pub(super) fn documents(view: &View, _args: &DocumentsArgs) -> Documents {
    Documents { documents: view.documents() }
}

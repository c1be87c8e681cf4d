//! Failures of the memory as replies.

use crate::memory::MemoryError;
use crate::mqtt::{Refusal, RefusalCode};

/// A failure of the memory as a reply.
#[must_use]
pub fn refusal(error: &MemoryError) -> Refusal {
    let code = match error {
        MemoryError::NotFound { .. } => RefusalCode::NotFound,
        MemoryError::Expired { .. } => RefusalCode::Expired,
        MemoryError::Refused(_) => RefusalCode::BadRequest,
        MemoryError::ReadOnly { .. } | MemoryError::DiskFull { .. } => RefusalCode::Unavailable,
        _ => RefusalCode::Internal,
    };
    Refusal { code, message: error.to_string() }
}

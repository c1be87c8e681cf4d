//! Recall: a query becomes a ranked list of memories.

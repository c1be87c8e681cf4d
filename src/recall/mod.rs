//! Recall: a query becomes a ranked list of memories.

pub mod lexer;
pub mod time_expr;

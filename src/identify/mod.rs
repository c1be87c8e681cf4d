//! Identity: whose face, whose voice, which of them are one person.

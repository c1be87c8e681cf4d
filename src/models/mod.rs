//! Model files: manifest, lookup, fetching, verifying.

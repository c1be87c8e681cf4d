//! Capture: sources become frames and blocks with a capture time.

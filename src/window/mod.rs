//! The rolling window in event time: watermark, frame selection, sealing.

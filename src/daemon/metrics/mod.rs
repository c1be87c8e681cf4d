//! Figures for dashboards: `GET /metrics` in Prometheus' text form, where `metrics.listen` is set.

mod exporter;
mod exposition;
mod responder;

pub use exporter::Exporter;
pub use exposition::{Exposition, Kind, METRICS, Metric};
pub use responder::{MetricsError, Responder};

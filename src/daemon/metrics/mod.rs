//! Figures of what runs through: gauges and meters, `stats` over MQTT, and for dashboards `GET /metrics` in Prometheus' text form,
//! where `metrics.listen` is set.

mod exporter;
mod exposition;
pub mod gauges;
pub mod meters;
mod responder;
pub mod stats;

pub use exporter::Exporter;
pub use exposition::{Exposition, Kind, METRICS, Metric};
pub use responder::{MetricsError, Responder};

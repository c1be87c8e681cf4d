//! What every session of a daemon shares.

use std::sync::Arc;

use crossbeam_channel::Sender;

use super::failpoints::Failpoints;
use super::feed::inbox::Inbox;
use super::feed::pace::PlaybackClock;
use super::report::Report;
use super::work::perceiver_set::PerceiverSet;
use super::work::yielding::YieldPolicy;
use crate::config::Config;
use crate::daemon::Stop;
use crate::daemon::metrics::gauges::Gauges;
use crate::daemon::resolver::resolver;
use crate::identify::{PendingIdentities, Resolver, SharedResolver};
use crate::memorize::Memorizer;
use crate::memorize::model::Spool;
use crate::memory::Memory;

/// What every session of a daemon shares.
#[derive(Clone)]
pub struct SessionSettings {
    /// Configuration.
    pub config: Arc<Config>,
    /// Where clips go.
    pub memory: Memory,
    /// The models.
    pub perceivers: Arc<PerceiverSet>,
    /// Who is who; shared with whoever takes the user's word on it.
    pub resolver: Arc<SharedResolver>,
    /// Clip → sentences.
    pub memorizer: Memorizer,
    /// Questions in flight.
    pub courtesy: YieldPolicy,
    /// Steers a replay.
    pub pace: PlaybackClock,
    /// Where reports go.
    pub reports: Sender<Report>,
    /// Figures of what runs through.
    pub gauges: Gauges,
    /// Poses and own speech told from outside.
    pub inbox: Inbox,
    /// A full disk is waited out until this stop; `None`: it is an error at once.
    pub patience: Option<Stop>,
    /// Where clips wait for a multimodal model; `None` where none memorizes.
    pub spool: Option<Spool>,
    /// Where a test lets a stage break down.
    pub failpoints: Failpoints,
}

impl SessionSettings {
    /// The resolver has learned what was not kept: it begins again from the store's rows.
    pub(in crate::daemon) fn unlearn(&self, who: &mut Resolver) {
        let undecided = who.undecided().clone();
        self.restore(who, undecided);
    }

    /// The resolver begins from the store's rows, with what a session before it left undecided.
    pub(super) fn restore(&self, who: &mut Resolver, undecided: PendingIdentities) {
        *who = resolver(&self.config, &self.memory, &self.perceivers, undecided);
    }
}

//! The kinds of perception, a line each: whoever adds one adds its folder under `perceive` and its line here.
//!
//! Of each kind every worker loads a network; of those that look at pictures every camera's stage keeps a state, which is
//! part of the checkpoint, and every clip gets percepts.

use serde::{Deserialize, Serialize};

use super::perceiver_set::PerceiverSet;
use crate::config::Config;
use crate::ids::SourceId;
use crate::perceive::PerceiveError;
use crate::perceive::active_speaker::MouthScorer;
use crate::perceive::face::Faces;
use crate::perceive::object::Things;
use crate::perceive::perceptor::{Moment, Perceptor, PicturePerceptor, View};
use crate::perceive::text::TextReader;
use crate::perceive::voice::Voices;
use crate::time::Timestamp;

/// Something that holds a perceptor of that kind.
pub(in crate::daemon::ingest) trait Has<P: Perceptor> {
    /// It.
    fn perceptor(&mut self) -> &mut P;
}

/// `name: kind = how a worker's is loaded, how a camera's state begins`.
macro_rules! picture_perceptors {
    ($($name:ident: $kind:ty = $load:path, $begin:path;)*) => {
        /// One worker's networks; `None`: that kind has none.
        pub(in crate::daemon::ingest) struct PictureNetworks { $($name: Option<$kind>,)* }

        /// What is looked for in a picture.
        #[derive(Clone, Debug)]
        pub struct DetectionPlan {
            $(#[allow(missing_docs)] pub $name: Option<<$kind as PicturePerceptor>::Plan>,)*
        }

        /// What was found in a picture; `None`: it was not looked for, or could not be.
        #[derive(Clone, Debug)]
        pub struct Findings {
            $(#[allow(missing_docs)] pub $name: Option<<$kind as PicturePerceptor>::Finding>,)*
        }

        /// What a camera's stage follows.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(in crate::daemon::ingest) struct PictureStates {
            $(pub(in crate::daemon::ingest) $name: <$kind as PicturePerceptor>::State,)*
        }

        /// What a clip gets from a camera.
        #[derive(Clone, Debug, Default)]
        pub(in crate::daemon::ingest) struct PicturePercepts {
            $(pub(in crate::daemon::ingest) $name: Vec<<$kind as PicturePerceptor>::Percept>,)*
        }

        impl PictureNetworks {
            /// Loads a worker's.
            pub(super) fn load(set: &PerceiverSet) -> Result<Self, PerceiveError> {
                Ok(Self { $($name: $load(set)?,)* })
            }

            /// Looks at a picture, as far as it is planned.
            pub(super) fn look(
                &mut self,
                view: View<'_>,
                plan: &DetectionPlan,
            ) -> Result<Findings, PerceiveError> {
                Ok(Findings {
                    $($name: match (&mut self.$name, &plan.$name) {
                        (Some(network), Some(plan)) => network.look(view, plan)?,
                        _ => None,
                    },)*
                })
            }
        }

        impl DetectionPlan {
            /// Of the `number`th analysed picture of a camera, as far as that alone decides it.
            pub(in crate::daemon::ingest) fn of(config: &Config, number: u64) -> Self {
                Self { $($name: <$kind as PicturePerceptor>::plan(config, number),)* }
            }

            /// What it costs of the camera's budget, microseconds.
            pub(in crate::daemon::ingest) fn cost_us(&self) -> u64 {
                let costs = [$(self.$name.as_ref().map_or(0, <$kind as PicturePerceptor>::cost_us),)*];
                costs.into_iter().sum()
            }
        }

        impl PictureStates {
            /// At a camera's beginning.
            pub(in crate::daemon::ingest) fn begin(set: &PerceiverSet, source: &SourceId) -> Self {
                Self { $($name: $begin(set, source),)* }
            }

            /// The next picture.
            pub(in crate::daemon::ingest) fn advance(
                &mut self,
                moment: Moment,
                findings: &Findings,
            ) {
                $(<$kind as PicturePerceptor>::advance(
                    &mut self.$name,
                    moment,
                    findings.$name.as_ref(),
                );)*
            }

            /// The percepts of the clip that ends there.
            pub(in crate::daemon::ingest) fn at_boundary(
                &mut self,
                end: Timestamp,
            ) -> PicturePercepts {
                PicturePercepts {
                    $($name: <$kind as PicturePerceptor>::at_boundary(&mut self.$name, end),)*
                }
            }
        }
    };
}

/// `name: kind = how a worker's is loaded`.
macro_rules! perceptors {
    ($($name:ident: $kind:ty = $load:path;)*) => {
        /// One worker's networks for everything but pictures.
        pub(in crate::daemon::ingest) struct Networks { $($name: $kind,)* }

        impl Networks {
            /// Loads a worker's.
            pub(super) fn load(set: &PerceiverSet) -> Result<Self, PerceiveError> {
                Ok(Self { $($name: $load(set)?,)* })
            }
        }

        $(impl Has<$kind> for Networks {
            fn perceptor(&mut self) -> &mut $kind {
                &mut self.$name
            }
        })*
    };
}

picture_perceptors! {
    faces: Faces = PerceiverSet::faces, PerceiverSet::face_tracker;
    objects: Things = PerceiverSet::things, PerceiverSet::followed;
    texts: TextReader = PerceiverSet::text_reader, PerceiverSet::text_tracker;
}

perceptors! {
    voices: Voices = PerceiverSet::voices;
    mouths: MouthScorer = PerceiverSet::mouths;
}

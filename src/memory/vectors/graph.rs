//! A graph over the centroids of cells (HNSW: Malkov & Yashunin, arXiv 1603.09320; the crate `hnsw_rs`): which cells are near,
//! without a look at most of them.
//!
//! It grows with every cell and forgets none: a cell that was parted is there with the centroid that it had, and whoever asks
//! leaves that out by its version. One thread adds points, any number asks meanwhile.

use hnsw_rs::anndists::dist::distances::Distance;
use hnsw_rs::prelude::Hnsw;

use crate::simd::dot;

/// Links of a point, on a layer.
const LINKS: usize = 24;
const LAYERS: usize = 16;
/// Points looked at for the links of a new one.
const LOOKED_AT_FOR_LINKS: usize = 200;
/// Points that are expected; more have room, too.
const EXPECTED: usize = 4096;
/// Points looked at in a search, for each that is wanted; and beside them.
const LOOKED_AT: usize = 2;
const LOOKED_AT_BESIDE: usize = 64;
/// The version's place in a point's number.
const VERSION: u32 = usize::BITS / 2;

/// One minus the cosine of unit vectors.
struct UnitDot;

impl Distance<f32> for UnitDot {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        (1.0 - dot(a, b)).max(0.0)
    }
}

/// The graph.
pub(super) struct CellGraph(Hnsw<'static, f32, UnitDot>);

impl CellGraph {
    pub(super) fn new() -> Self {
        Self(Hnsw::new(LINKS, EXPECTED, LAYERS, LOOKED_AT_FOR_LINKS, UnitDot))
    }

    /// Adds a cell's centroid. Never to be called by two threads at once.
    pub(super) fn add(&self, cell: u32, version: u32, centroid: &[f32]) {
        self.0.insert((centroid, cell as usize | (version as usize) << VERSION));
    }

    /// How many points there are, those of parted cells among them.
    pub(super) fn len(&self) -> usize {
        self.0.get_nb_point()
    }

    /// About `count` of the nearest points, nearest first: cell and version.
    pub(super) fn nearest(&self, query: &[f32], count: usize) -> Vec<(u32, u32)> {
        let found = self.0.search(query, count, LOOKED_AT * count + LOOKED_AT_BESIDE);
        found.into_iter().map(|near| (near.d_id as u32, (near.d_id >> VERSION) as u32)).collect()
    }
}

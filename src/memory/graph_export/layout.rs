//! Where the nodes stand: persons on a ring, what is theirs around them, what they share between them.

use super::{EdgeKind, MemoryGraph, NodeKind};

/// A place in the picture, px.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Places of all nodes and the size of the picture.
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Room that a node takes: half width, half height.
pub(super) fn extent(kind: NodeKind, label: &str) -> (f64, f64) {
    let letters = label.chars().count() as f64;
    match kind {
        NodeKind::Person => ((letters * 4.6 + 14.0).max(40.0), 24.0),
        NodeKind::Face | NodeKind::Voice => (letters * 3.6 + 9.0, 13.0),
        NodeKind::Object | NodeKind::Place => (letters * 3.8 + 12.0, 15.0),
        NodeKind::Memory => (letters * 3.1 + 8.0, 11.0),
    }
}

/// Springs along the edges, every node pushing the others away, then overlaps taken apart. Starts from
/// places that follow from the order of nodes alone, so the same graph always looks the same.
pub(super) fn layout(graph: &MemoryGraph) -> Layout {
    let count = graph.nodes.len();
    let mut places = start(graph);
    let mut heat = 60.0;
    // The work grows with the square of the nodes; a large graph gets fewer rounds.
    let rounds = (4_000_000 / (count * count).max(1)).clamp(40, 400);
    for _ in 0..rounds {
        let mut push = vec![Place::default(); count];
        for a in 0..count {
            for b in a + 1..count {
                let (dx, dy) = (places[a].x - places[b].x, (places[a].y - places[b].y) * 1.6);
                let square = (dx * dx + dy * dy).max(25.0);
                let force = 9_000.0 / square;
                let length = square.sqrt();
                push[a].x += dx / length * force;
                push[a].y += dy / length * force;
                push[b].x -= dx / length * force;
                push[b].y -= dy / length * force;
            }
        }
        for edge in &graph.edges {
            let wanted = match edge.kind {
                EdgeKind::PartOf => 80.0,
                EdgeKind::Evidence => 110.0,
                EdgeKind::About => 170.0,
            };
            let (a, b) = (places[edge.from], places[edge.to]);
            let (dx, dy) = (b.x - a.x, b.y - a.y);
            let length = (dx * dx + dy * dy).sqrt().max(1.0);
            let force = (length - wanted) * 0.05;
            push[edge.from].x += dx / length * force;
            push[edge.from].y += dy / length * force;
            push[edge.to].x -= dx / length * force;
            push[edge.to].y -= dy / length * force;
        }
        for (place, push) in places.iter_mut().zip(&push) {
            // A weak pull to the middle keeps what hangs on nothing in the picture.
            let (dx, dy) = (push.x - place.x * 0.004, push.y - place.y * 0.006);
            let length = (dx * dx + dy * dy).sqrt().max(1e-9);
            let step = length.min(heat);
            place.x += dx / length * step;
            place.y += dy / length * step;
        }
        heat = (heat * 0.985).max(1.0);
    }
    part_overlaps(graph, &mut places);
    framed(graph, places)
}

/// Persons on a ring; what hangs on something stands near it; the rest on a ring outside.
fn start(graph: &MemoryGraph) -> Vec<Place> {
    let count = graph.nodes.len();
    let persons = graph.nodes.iter().filter(|node| node.kind == NodeKind::Person).count();
    let on_ring = |i: usize, of: usize, radius: f64| {
        let turn =
            i as f64 / of.max(1) as f64 * std::f64::consts::TAU - std::f64::consts::FRAC_PI_2;
        Place { x: radius * turn.cos(), y: radius * turn.sin() }
    };
    let inner = 60.0 + 60.0 * persons as f64;
    let mut places: Vec<Place> =
        (0..count)
            .map(|i| {
                if i < persons {
                    on_ring(i, persons, inner)
                } else {
                    on_ring(i, count, inner * 2.0)
                }
            })
            .collect();
    for (at, place) in (persons..count).map(|at| (at, places[at])).collect::<Vec<_>>() {
        let hung: Vec<usize> =
            graph.edges.iter().filter(|edge| edge.to == at).map(|edge| edge.from).collect();
        if hung.is_empty() {
            continue;
        }
        let many = hung.len() as f64;
        let x = hung.iter().map(|from| places[*from].x).sum::<f64>() / many;
        let y = hung.iter().map(|from| places[*from].y).sum::<f64>() / many;
        places[at] = Place { x: x * 1.3 + place.x * 0.15, y: y * 1.3 + place.y * 0.15 };
    }
    places
}

/// Moves boxes that lie on each other apart, along the axis on which they overlap least.
fn part_overlaps(graph: &MemoryGraph, places: &mut [Place]) {
    let sizes: Vec<_> = graph.nodes.iter().map(|node| extent(node.kind, &node.label)).collect();
    for _ in 0..200 {
        let mut moved = false;
        for a in 0..places.len() {
            for b in a + 1..places.len() {
                let (dx, dy) = (places[b].x - places[a].x, places[b].y - places[a].y);
                let over_x = sizes[a].0 + sizes[b].0 + 8.0 - dx.abs();
                let over_y = sizes[a].1 + sizes[b].1 + 6.0 - dy.abs();
                if over_x <= 0.0 || over_y <= 0.0 {
                    continue;
                }
                moved = true;
                if over_x < over_y {
                    let step = over_x / 2.0 * if dx < 0.0 { -1.0 } else { 1.0 };
                    places[a].x -= step;
                    places[b].x += step;
                } else {
                    let step = over_y / 2.0 * if dy < 0.0 { -1.0 } else { 1.0 };
                    places[a].y -= step;
                    places[b].y += step;
                }
            }
        }
        if !moved {
            return;
        }
    }
}

/// Shifts everything into the positive quarter, with a margin.
fn framed(graph: &MemoryGraph, mut places: Vec<Place>) -> Layout {
    const MARGIN: f64 = 24.0;
    let boxes =
        || places.iter().zip(&graph.nodes).map(|(at, node)| (at, extent(node.kind, &node.label)));
    let left = boxes().map(|(at, (w, _))| at.x - w).fold(f64::INFINITY, f64::min);
    let top = boxes().map(|(at, (_, h))| at.y - h).fold(f64::INFINITY, f64::min);
    let right = boxes().map(|(at, (w, _))| at.x + w).fold(f64::NEG_INFINITY, f64::max);
    let bottom = boxes().map(|(at, (_, h))| at.y + h).fold(f64::NEG_INFINITY, f64::max);
    if places.is_empty() {
        return Layout { places, width: 320.0, height: 80.0 };
    }
    for place in &mut places {
        place.x += MARGIN - left;
        place.y += MARGIN - top;
    }
    Layout { places, width: right - left + 2.0 * MARGIN, height: bottom - top + 2.0 * MARGIN }
}

//! The graph written down: DOT, SVG, one HTML page.

use std::fmt::Write as _;

use super::layout::{Layout, extent, layout};
use super::{Edge, EdgeKind, MemoryGraph, NodeKind};

impl NodeKind {
    /// Fill and border.
    fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Person => ("#dbe7f7", "#2b5c9e"),
            Self::Face => ("#fdf0d5", "#b87a10"),
            Self::Voice => ("#e4f3e1", "#3f8437"),
            Self::Object => ("#f1e4f4", "#7d4a8c"),
            Self::Place => ("#fbe2dd", "#a8463a"),
            Self::Memory => ("#f6f6f4", "#8a8a84"),
        }
    }

    const ALL: [(Self, &'static str); 6] = [
        (Self::Person, "person"),
        (Self::Face, "face"),
        (Self::Voice, "voice"),
        (Self::Object, "object"),
        (Self::Place, "place"),
        (Self::Memory, "memory"),
    ];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| *word)
    }
}

impl Edge {
    fn colour(&self) -> &'static str {
        match self.kind {
            EdgeKind::PartOf => "#2b5c9e",
            EdgeKind::Evidence if self.weight < 0.0 => "#c0392b",
            EdgeKind::Evidence => "#3f8437",
            EdgeKind::About => "#b9b9b3",
        }
    }

    fn width(&self) -> f64 {
        match self.kind {
            EdgeKind::PartOf => 2.2,
            EdgeKind::Evidence => 1.0 + self.weight.abs().sqrt().min(5.0) * 0.6,
            EdgeKind::About => 1.0,
        }
    }
}

impl MemoryGraph {
    /// Graphviz DOT (undirected).
    #[must_use]
    pub fn dot(&self) -> String {
        let quoted =
            |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
        let mut out = String::from(
            "graph memory {\n  overlap=false; splines=true; node [style=filled, fontname=\"sans-serif\"];\n",
        );
        for node in &self.nodes {
            let (fill, line) = node.kind.colours();
            let shape = match node.kind {
                NodeKind::Person => "ellipse",
                NodeKind::Memory => "note",
                _ => "box",
            };
            let _ = writeln!(
                out,
                "  \"{}\" [label=\"{}\", tooltip=\"{}\", shape={shape}, fillcolor=\"{fill}\", color=\"{line}\"];",
                quoted(&node.id),
                quoted(&node.label),
                quoted(&node.detail),
            );
        }
        for edge in &self.edges {
            let label = match edge.kind {
                EdgeKind::Evidence => format!(", label=\"{:+.1} s\"", edge.weight),
                _ => String::new(),
            };
            let _ = writeln!(
                out,
                "  \"{}\" -- \"{}\" [color=\"{}\"{label}];",
                quoted(&self.nodes[edge.from].id),
                quoted(&self.nodes[edge.to].id),
                edge.colour(),
            );
        }
        out.push_str("}\n");
        out
    }

    /// One SVG picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let placed = layout(self);
        let (width, height) = (placed.width, placed.height + 30.0);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"system-ui, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        );
        self.draw_edges(&placed, &mut out);
        self.draw_nodes(&placed, &mut out);
        self.draw_weights(&placed, &mut out);
        draw_legend(placed.height + 14.0, &mut out);
        if let Some(told) = self.left_out() {
            let (x, y) = (width - 12.0, placed.height + 14.0);
            let _ = writeln!(
                out,
                "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"end\" font-size=\"11\" fill=\"#555\">{told}</text>"
            );
        }
        out.push_str("</svg>\n");
        out
    }

    fn draw_edges(&self, placed: &Layout, out: &mut String) {
        for edge in &self.edges {
            let (a, b) = (placed.places[edge.from], placed.places[edge.to]);
            let dashes = if edge.weight < 0.0 { " stroke-dasharray=\"4 3\"" } else { "" };
            let _ = writeln!(
                out,
                "<line class=\"edge\" data-from=\"{}\" data-to=\"{}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" \
                 y2=\"{:.1}\" stroke=\"{}\" stroke-width=\"{:.1}\"{dashes}/>",
                edge.from,
                edge.to,
                a.x,
                a.y,
                b.x,
                b.y,
                edge.colour(),
                edge.width(),
            );
        }
    }

    fn draw_weights(&self, placed: &Layout, out: &mut String) {
        for edge in self.edges.iter().filter(|edge| edge.kind == EdgeKind::Evidence) {
            let (a, b) = (placed.places[edge.from], placed.places[edge.to]);
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\" text-anchor=\"middle\" fill=\"{}\" \
                 stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">{:+.1} s</text>",
                (a.x + b.x) / 2.0,
                (a.y + b.y) / 2.0 + 3.0,
                edge.colour(),
                edge.weight,
            );
        }
    }

    fn draw_nodes(&self, placed: &Layout, out: &mut String) {
        for (at, (node, place)) in self.nodes.iter().zip(&placed.places).enumerate() {
            let (w, h) = extent(node.kind, &node.label);
            let (fill, line) = node.kind.colours();
            let (corner, size, weight) = match node.kind {
                NodeKind::Person => (h, 15, " font-weight=\"600\""),
                NodeKind::Memory => (3.0, 11, ""),
                _ => (7.0, 12, ""),
            };
            let _ = writeln!(
                out,
                "<g class=\"node\" data-node=\"{at}\"><title>{}</title><rect x=\"{:.1}\" y=\"{:.1}\" \
                 width=\"{:.1}\" height=\"{:.1}\" rx=\"{corner:.1}\" fill=\"{fill}\" stroke=\"{line}\" \
                 stroke-width=\"1.4\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size}\"{weight} \
                 text-anchor=\"middle\" fill=\"#222\">{}</text></g>",
                escaped(&node.detail),
                place.x - w,
                place.y - h,
                w * 2.0,
                h * 2.0,
                place.x,
                place.y + f64::from(size) * 0.35,
                escaped(&node.label),
            );
        }
    }

    /// One page that needs nothing else: the picture, and what hangs together lit up under the pointer.
    #[must_use]
    pub fn html(&self) -> String {
        let mut rows = String::new();
        for node in &self.nodes {
            let _ = writeln!(
                rows,
                "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
                escaped(&node.id),
                node.kind.word(),
                escaped(&node.detail),
            );
        }
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Memory graph</title>\n\
             <style>body{{margin:1.5rem;font-family:system-ui,sans-serif;color:#222}}svg{{max-width:100%;\
             height:auto}}.node{{cursor:pointer}}svg.lit .node,svg.lit .edge{{opacity:.15}}\
             svg.lit .on{{opacity:1!important}}table{{border-collapse:collapse;font-size:.85rem}}\
             td,th{{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:left}}</style></head><body>\n\
             <h1>Memory graph</h1>\n{}\n<details><summary>{} nodes, {} edges</summary>\n\
             <table><tr><th>id</th><th>kind</th><th>what</th></tr>\n{rows}</table></details>\n\
             <script>{SCRIPT}</script></body></html>\n",
            self.svg(),
            self.nodes.len(),
            self.edges.len(),
        )
    }
}

/// Lights up a node's neighbours.
const SCRIPT: &str = "const svg=document.querySelector('svg');\
const light=n=>{svg.classList.toggle('lit',n!==null);\
svg.querySelectorAll('.on').forEach(e=>e.classList.remove('on'));if(n===null)return;\
const on=new Set([n]);svg.querySelectorAll('.edge').forEach(e=>{const{from,to}=e.dataset;\
if(from===n||to===n){e.classList.add('on');on.add(from);on.add(to)}});\
svg.querySelectorAll('.node').forEach(e=>{if(on.has(e.dataset.node))e.classList.add('on')})};\
svg.querySelectorAll('.node').forEach(e=>{e.addEventListener('mouseenter',()=>light(e.dataset.node));\
e.addEventListener('mouseleave',()=>light(null))});";

fn draw_legend(y: f64, out: &mut String) {
    let mut x = 16.0;
    for (kind, word) in NodeKind::ALL {
        let (fill, line) = kind.colours();
        let _ = writeln!(
            out,
            "<rect x=\"{x:.0}\" y=\"{:.0}\" width=\"12\" height=\"12\" rx=\"3\" fill=\"{fill}\" stroke=\"{line}\"/>\
             <text x=\"{:.0}\" y=\"{y:.0}\" font-size=\"11\" fill=\"#444\">{word}</text>",
            y - 10.0,
            x + 17.0,
        );
        x += 34.0 + 7.0 * word.len() as f64;
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 has no place for other control characters.
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

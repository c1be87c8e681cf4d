//! Tiny networks with weights set by hand, as ONNX files.
//!
//! [`rectangles`] is convolutional, in any of YOLO's three output layouts. It truly sees: it finds upright red and blue rectangles on any ground that is neither. A 1x1 convolution makes a map of
//! each colour; a large one sums the map around every cell of a grid, weighted by 1, x, y, x² and y²: these moments are
//! the centre and the size of the rectangle. Rectangles must be smaller than [`REACH`] and farther than that from others
//! of their colour, px of the input. The file is written with a few lines of Protocol Buffers; field numbers are those
//! of `onnx.proto`.

/// How far a cell sees, px of the input.
pub const REACH: usize = 32;

/// Where the boxes stand in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `[B, N, 5 + C]`, YOLOv5 and v7.
    Objectness,
    /// `[B, 4 + C, N]`, YOLOv8 to v11.
    Classes,
    /// `[1, N, 6]`, suppressed, filled up with empty rows.
    Finished,
}

/// The network; `batch` and `side` of the square input where they are fixed; `names`: what it says of its classes itself.
pub fn rectangles(
    layout: Layout,
    batch: Option<usize>,
    side: Option<usize>,
    names: Option<&str>,
) -> Vec<u8> {
    // Where the size is free, pictures come large.
    let stride = if side.is_some() { 8 } else { 16 };
    let mut net = Graph::default();
    let colours = [4.0, -4.0, -4.0, -4.0, -4.0, 4.0];
    let map = net.conv("images", [2, 3, 1, 1], &colours, &[-1.0, -1.0], 1, 0);
    let map = net.clip(&map);
    let (kernel, channels) = (2 * REACH + 1, 6);
    let mut weights = vec![0.0_f32; 2 * channels * 2 * kernel * kernel];
    for class in 0..2 {
        for row in 0..kernel {
            for column in 0..kernel {
                let (x, y) = (column as f32 - REACH as f32, row as f32 - REACH as f32);
                let middle = if x == 0.0 && y == 0.0 { 1.0 } else { 0.0 };
                for (channel, weight) in [1.0, x, y, x * x, y * y, middle].into_iter().enumerate() {
                    let out = class * channels + channel;
                    weights[((out * 2 + class) * kernel + row) * kernel + column] = weight;
                }
            }
        }
    }
    let shape = [2 * channels, 2, kernel, kernel];
    let sums = net.conv(&map, shape, &weights, &vec![0.0; 2 * channels], stride, REACH);
    let sums = net.node("Split", &[&sums], 2 * channels, &[int("axis", 1)]);

    // Px of every cell, of any grid.
    let nothing = net.with("Mul", &sums[0], 0.0);
    let one = net.with("Add", &nothing, 1.0);
    let cell = |net: &mut Graph, axis: i64| {
        let axis = net.ints(&[axis]);
        let counted = net.node("CumSum", &[&one, &axis], 1, &[]).remove(0);
        let first = net.with("Sub", &counted, 1.0);
        net.with("Mul", &first, stride as f32)
    };
    let (left, top) = (cell(&mut net, 3), cell(&mut net, 2));

    let mut heads = Vec::new();
    for class in 0..2 {
        let [mass, x, y, xx, yy, middle] =
            [0, 1, 2, 3, 4, 5].map(|at| sums[class * channels + at].clone());
        let floor = net.floats(&[], &[1e-3]);
        let mass = net.node("Max", &[&mass, &floor], 1, &[]).remove(0);
        let mut measure = |first: &str, second: &str, from: &str| {
            let mean = net.two("Div", first, &mass);
            let square = net.two("Mul", &mean, &mean);
            let spread = net.two("Div", second, &mass);
            let spread = net.two("Sub", &spread, &square);
            let spread = net.one("Relu", &spread);
            let spread = net.with("Mul", &spread, 12.0);
            let spread = net.with("Add", &spread, 1.0);
            let length = net.one("Sqrt", &spread);
            let centre = net.two("Add", from, &mean);
            (net.with("Add", &centre, 0.5), length)
        };
        let (x, w) = measure(&x, &xx, &left);
        let (y, h) = measure(&y, &yy, &top);
        let score = net.with("Mul", &middle, 0.9);
        let tail = match (layout, class) {
            (Layout::Objectness, 0) => vec![score, one.clone(), nothing.clone()],
            (Layout::Objectness, _) => vec![score, nothing.clone(), one.clone()],
            (_, 0) => vec![score, nothing.clone()],
            (_, _) => vec![nothing.clone(), score],
        };
        let rows: Vec<String> = [x, y, w, h].into_iter().chain(tail).collect();
        let count = rows.len() as i64;
        let stacked = net.concat(&rows, 1);
        let flat = net.ints(&[0, count, -1]);
        heads.push(net.two("Reshape", &stacked, &flat));
    }
    let all = net.concat(&heads, 2);
    let output = match layout {
        Layout::Classes => all,
        Layout::Objectness => net.transposed(&all),
        Layout::Finished => net.finished(&all),
    };
    net.model(&output, batch, side, names)
}

/// A network with the ends of a speaker network: of every band of `input` `[B, T, bands]` the mean square over T, `[B, bands]`,
/// times `weights` `[bands, D]`, row-major, as `embs` `[B, D]`, or `[B, 1, D]` where T is `kept`.
///
/// `shape` is what the file says of its input, `None`: free. The second dimension is T, the last the bands.
#[allow(dead_code, reason = "the library's own tests listen with it")]
pub fn mean_squares(input: &str, shape: &[Option<usize>], weights: &[f32], kept: bool) -> Vec<u8> {
    let mut net = Graph::default();
    let bands = shape.last().copied().flatten().unwrap_or(1);
    let width = weights.len() / bands;
    let squares = net.two("Mul", input, input);
    let attributes = [ints("axes", &[1]), int("keepdims", i64::from(kept))];
    let mean = net.node("ReduceMean", &[&squares], 1, &attributes).remove(0);
    let weights = net.floats(&[bands, width], weights);
    let vector = net.two("MatMul", &mean, &weights);
    let name = |at: usize| format!("d{at}");
    let from = shape.iter().enumerate().map(|(at, side)| dim(*side, &name(at))).collect();
    let mut into = vec![dim(shape.first().copied().flatten(), &name(0))];
    into.extend((2..shape.len() - usize::from(!kept)).map(|at| dim(None, &format!("m{at}"))));
    into.push(dim(Some(width), ""));
    net.file("speaker", tensor(input, from), (&vector, "embs", into), None)
}

/// A network with the ends of YAMNet that hears tones: of every class the bands of the spectrogram in which it sounds.
#[allow(dead_code, reason = "the library's own tests need none")]
pub fn tones(classes: &[(&str, std::ops::Range<usize>)]) -> Vec<u8> {
    const BANDS: usize = 64;
    // Silence is log(0.001).
    const SILENCE: f32 = 6.9;
    let mut net = Graph::default();
    let attributes = [ints("axes", &[1, 2]), int("keepdims", 0)];
    let mean = net.node("ReduceMean", &["patch"], 1, &attributes).remove(0);
    let above = net.with("Add", &mean, SILENCE);
    let above = net.one("Relu", &above);
    let mut weights = vec![0.0; BANDS * classes.len()];
    for (class, (_, bands)) in classes.iter().enumerate() {
        for band in bands.clone() {
            weights[band * classes.len() + class] = 0.5;
        }
    }
    let weights = net.floats(&[BANDS, classes.len()], &weights);
    let sum = net.two("MatMul", &above, &weights);
    let sure = net.with("Add", &sum, -8.0);
    let score = net.one("Sigmoid", &sure);
    let patch = vec![dim(None, "n"), dim(Some(1), ""), dim(Some(96), ""), dim(Some(BANDS), "")];
    let into = vec![dim(None, "n"), dim(Some(classes.len()), "")];
    let names: Vec<&str> = classes.iter().map(|(name, _)| *name).collect();
    let said = names.join("\n");
    net.file("tones", tensor("patch", patch), (&score, "score", into), Some(("classes", &said)))
}

/// A network with the ends of MoveNet that knows one body: a red upright rectangle over four fifths of the crop. It sees joints
/// where it is red where the body would have its head.
#[allow(dead_code, reason = "the library's own tests need none")]
pub fn upright(points: &[(f32, f32); 17]) -> Vec<u8> {
    const SIDE: usize = 192;
    let mut net = Graph::default();
    let (rows, columns) = (24..52, 86..106);
    let cells = (rows.len() * columns.len()) as f32 * 255.0;
    let mut weights = vec![0.0_f32; 3 * SIDE * SIDE];
    for row in rows {
        for column in columns.clone() {
            for (channel, weight) in [1.0, -1.0, -1.0].into_iter().enumerate() {
                weights[(channel * SIDE + row) * SIDE + column] = weight / cells;
            }
        }
    }
    let red = net.conv("image", [1, 3, SIDE, SIDE], &weights, &[0.0], 1, 0);
    let red = net.clip(&red);
    // Of each point y and x as they are, and how sure it is.
    let sure: Vec<f32> = (0..51).map(|at| if at % 3 == 2 { 1.0 } else { 0.0 }).collect();
    let places: Vec<f32> = points.iter().flat_map(|(x, y)| [*y, *x, 0.0]).collect();
    let all = net.conv(&red, [51, 1, 1, 1], &sure, &places, 1, 0);
    let shape = net.ints(&[1, 17, 3]);
    let all = net.two("Reshape", &all, &shape);
    let of = |sides: &[usize]| sides.iter().map(|side| dim(Some(*side), "")).collect();
    net.file(
        "upright",
        tensor("image", of(&[1, 3, SIDE, SIDE])),
        (&all, "points", of(&[1, 17, 3])),
        None,
    )
}

/// Fields of a Protocol Buffers message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: Self) -> Self {
        self.bytes(field, &message.0)
    }
}

/// An attribute that is a number.
fn int(name: &str, value: i64) -> Message {
    const INT: i64 = 2;
    Message::default().text(1, name).number(3, value).number(20, INT)
}

/// An attribute that is a list of numbers.
fn ints(name: &str, values: &[i64]) -> Message {
    const INTS: i64 = 7;
    let message = Message::default().text(1, name).number(20, INTS);
    values.iter().fold(message, |message, value| message.number(8, *value))
}

/// A dimension, fixed or free.
fn dim(fixed: Option<usize>, name: &str) -> Message {
    match fixed {
        Some(length) => Message::default().number(1, length as i64),
        None => Message::default().text(2, name),
    }
}

/// What a file says of an input or output.
fn tensor(name: &str, dims: Vec<Message>) -> Message {
    let shape = dims.into_iter().fold(Message::default(), |shape, dim| shape.message(1, dim));
    let kind = Message::default().number(1, 1).message(2, shape);
    Message::default().text(1, name).message(2, Message::default().message(1, kind))
}

/// A graph under construction: every method appends one node and gives the name of its output.
#[derive(Default)]
struct Graph {
    message: Message,
    count: usize,
}

impl Graph {
    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("v{}", self.count)
    }

    fn add(&mut self, field: u64, message: Message) {
        self.message = std::mem::take(&mut self.message).message(field, message);
    }

    fn node(
        &mut self,
        kind: &str,
        inputs: &[&str],
        outputs: usize,
        attributes: &[Message],
    ) -> Vec<String> {
        let names: Vec<String> = (0..outputs).map(|_| self.fresh()).collect();
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = names.iter().fold(node, |node, output| node.text(2, output)).text(4, kind);
        let node = attributes.iter().fold(node, |node, attribute| node.bytes(5, &attribute.0));
        self.add(1, node);
        names
    }

    fn one(&mut self, kind: &str, input: &str) -> String {
        self.node(kind, &[input], 1, &[]).remove(0)
    }

    fn two(&mut self, kind: &str, a: &str, b: &str) -> String {
        self.node(kind, &[a, b], 1, &[]).remove(0)
    }

    /// An operation with a constant.
    fn with(&mut self, kind: &str, input: &str, constant: f32) -> String {
        let constant = self.floats(&[], &[constant]);
        self.two(kind, input, &constant)
    }

    fn constant(&mut self, kind: i64, shape: &[usize], raw: &[u8]) -> String {
        let name = self.fresh();
        let tensor =
            shape.iter().fold(Message::default(), |tensor, side| tensor.number(1, *side as i64));
        self.add(5, tensor.number(2, kind).text(8, &name).bytes(9, raw));
        name
    }

    fn floats(&mut self, shape: &[usize], values: &[f32]) -> String {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(1, shape, &raw)
    }

    fn ints(&mut self, values: &[i64]) -> String {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(7, &[values.len()], &raw)
    }

    fn conv(
        &mut self,
        input: &str,
        shape: [usize; 4],
        weights: &[f32],
        bias: &[f32],
        stride: usize,
        pad: usize,
    ) -> String {
        let weights = self.floats(&shape, weights);
        let bias = self.floats(&[bias.len()], bias);
        let (stride, pad) = (stride as i64, pad as i64);
        let attributes = [ints("strides", &[stride; 2]), ints("pads", &[pad; 4])];
        self.node("Conv", &[input, &weights, &bias], 1, &attributes).remove(0)
    }

    /// Into 0–1.
    fn clip(&mut self, input: &str) -> String {
        let (low, high) = (self.floats(&[], &[0.0]), self.floats(&[], &[1.0]));
        self.node("Clip", &[input, &low, &high], 1, &[]).remove(0)
    }

    fn concat(&mut self, parts: &[String], axis: i64) -> String {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.node("Concat", &parts, 1, &[int("axis", axis)]).remove(0)
    }

    fn transposed(&mut self, input: &str) -> String {
        self.node("Transpose", &[input], 1, &[ints("perm", &[0, 2, 1])]).remove(0)
    }

    fn gather(&mut self, input: &str, indices: &[i64], axis: i64) -> String {
        let indices = self.ints(indices);
        self.node("Gather", &[input, &indices], 1, &[int("axis", axis)]).remove(0)
    }

    /// From `[1, 4 + C, N]` to corners, score and class of what is left after suppression, and twenty empty rows.
    fn finished(&mut self, all: &str) -> String {
        let centred = self.gather(all, &[0, 1, 2, 3], 1);
        let centred = self.transposed(&centred);
        let scores = self.gather(all, &[4, 5], 1);
        let most = self.ints(&[100]);
        let (overlap, least) = (self.floats(&[1], &[0.5]), self.floats(&[1], &[0.05]));
        let inputs = [centred.as_str(), &scores, &most, &overlap, &least];
        let kept =
            self.node("NonMaxSuppression", &inputs, 1, &[int("center_point_box", 1)]).remove(0);
        let (middle, size) = (self.gather(&centred, &[0, 1], 2), self.gather(&centred, &[2, 3], 2));
        let half = self.with("Mul", &size, 0.5);
        let (near, far) = (self.two("Sub", &middle, &half), self.two("Add", &middle, &half));
        let corners = self.concat(&[near, far], 2);
        let place = self.gather(&kept, &[0, 2], 1);
        let corners = self.two("GatherND", &corners, &place);
        let score = self.two("GatherND", &scores, &kept);
        let last = self.ints(&[1]);
        let score = self.two("Unsqueeze", &score, &last);
        let class = self.gather(&kept, &[1], 1);
        let class = self.node("Cast", &[&class], 1, &[int("to", 1)]).remove(0);
        let rows = self.concat(&[corners, score, class], 1);
        let empty = self.floats(&[20, 6], &[0.0; 120]);
        let rows = self.concat(&[rows, empty], 0);
        let first = self.ints(&[0]);
        self.two("Unsqueeze", &rows, &first)
    }

    /// The file of a network that sees.
    fn model(
        self,
        output: &str,
        batch: Option<usize>,
        side: Option<usize>,
        names: Option<&str>,
    ) -> Vec<u8> {
        let (height, width) = (dim(side, "height"), dim(side, "width"));
        let input = vec![dim(batch, "batch"), dim(Some(3), ""), height, width];
        let into = ["a", "b", "c"].map(|name| dim(None, name)).into();
        let names = names.map(|names| ("names", names));
        self.file("rectangles", tensor("images", input), (output, "output0", into), names)
    }

    /// The file; `output`: which node's it is, what it is called, and its dimensions; `said`: what it says of itself, under a
    /// key.
    fn file(
        mut self,
        graph: &str,
        input: Message,
        (output, called, dims): (&str, &str, Vec<Message>),
        said: Option<(&str, &str)>,
    ) -> Vec<u8> {
        self.add(11, input);
        let node = Message::default().text(1, output).text(2, called).text(4, "Identity");
        self.add(1, node);
        self.add(12, tensor(called, dims));
        let graph = self.message.text(2, graph);
        // Opset 17, IR version 8.
        let opset = Message::default().text(1, "").number(2, 17);
        let mut model = Message::default().number(1, 8).message(7, graph).message(8, opset);
        if let Some((key, value)) = said {
            model = model.message(14, Message::default().text(1, key).text(2, value));
        }
        model.0
    }
}

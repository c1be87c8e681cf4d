//! The model's files: MessagePack, with tensors as msgpack-numpy packs them.

use std::fmt;

/// Why a model could not be read.
#[derive(Debug)]
pub struct WeightsError {
    /// The file.
    pub file: &'static str,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for WeightsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "reading `{}` of the parser's model: {}; fetch the model anew",
            self.file, self.why
        )
    }
}

impl std::error::Error for WeightsError {}

/// One value of MessagePack. Text and bytes lie in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Nil,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bytes(&'a [u8]),
    List(Vec<Value<'a>>),
    Map(Vec<(Value<'a>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// The whole file as one value.
    ///
    /// # Errors
    /// It is cut short, nested over 64 deep, or holds what MessagePack does not have.
    pub fn read(bytes: &'a [u8]) -> Result<Self, String> {
        Reader { bytes, at: 0 }.value(0)
    }

    pub fn bytes(&self) -> Option<&'a [u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    pub fn text(&self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub fn list(&self) -> Option<&[Value<'a>]> {
        if let Value::List(list) = self { Some(list) } else { None }
    }

    pub fn map(&self) -> Option<&[(Value<'a>, Value<'a>)]> {
        if let Value::Map(map) = self { Some(map) } else { None }
    }

    pub fn number(&self) -> Option<u64> {
        match *self {
            Value::Unsigned(n) => Some(n),
            Value::Signed(n) => n.try_into().ok(),
            _ => None,
        }
    }

    /// What stands under the name in a map.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.map()?
            .iter()
            .find(|(key, _)| key.bytes() == Some(name.as_bytes()))
            .map(|(_, value)| value)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| {
            format!("it ends at byte {}, in the middle of a value", self.bytes.len())
        })?;
        let out = &self.bytes[self.at..end];
        self.at = end;
        Ok(out)
    }

    fn number(&mut self, size: usize) -> Result<u64, String> {
        Ok(self.take(size)?.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)))
    }

    fn count(&mut self, size: usize) -> Result<usize, String> {
        usize::try_from(self.number(size)?).map_err(|_| "a length that no file has".to_owned())
    }

    fn list(&mut self, count: usize, depth: usize) -> Result<Value<'a>, String> {
        (0..count).map(|_| self.value(depth + 1)).collect::<Result<_, _>>().map(Value::List)
    }

    fn map(&mut self, count: usize, depth: usize) -> Result<Value<'a>, String> {
        (0..count)
            .map(|_| Ok((self.value(depth + 1)?, self.value(depth + 1)?)))
            .collect::<Result<_, String>>()
            .map(Value::Map)
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, String> {
        if depth > 64 {
            return Err("nested over 64 deep".to_owned());
        }
        let kind = self.take(1)?[0];
        Ok(match kind {
            0..=0x7f => Value::Unsigned(kind.into()),
            0xe0..=0xff => Value::Signed((kind as i8).into()),
            0x80..=0x8f => self.map(usize::from(kind & 15), depth)?,
            0x90..=0x9f => self.list(usize::from(kind & 15), depth)?,
            0xa0..=0xbf => Value::Bytes(self.take(usize::from(kind & 31))?),
            0xc0 => Value::Nil,
            0xc2 => Value::Bool(false),
            0xc3 => Value::Bool(true),
            0xc4..=0xc6 => {
                let count = self.count(1 << (kind - 0xc4))?;
                Value::Bytes(self.take(count)?)
            }
            0xca => Value::Float(f32::from_bits(self.number(4)? as u32).into()),
            0xcb => Value::Float(f64::from_bits(self.number(8)?)),
            0xcc..=0xcf => Value::Unsigned(self.number(1 << (kind - 0xcc))?),
            0xd0 => Value::Signed((self.number(1)? as i8).into()),
            0xd1 => Value::Signed((self.number(2)? as i16).into()),
            0xd2 => Value::Signed((self.number(4)? as i32).into()),
            0xd3 => Value::Signed(self.number(8)? as i64),
            0xd9..=0xdb => {
                let count = self.count(1 << (kind - 0xd9))?;
                Value::Bytes(self.take(count)?)
            }
            0xdc | 0xdd => {
                let count = self.count(2 << (kind - 0xdc))?;
                self.list(count, depth)?
            }
            0xde | 0xdf => {
                let count = self.count(2 << (kind - 0xde))?;
                self.map(count, depth)?
            }
            _ => return Err(format!("byte {kind:#x} begins no value that a model has")),
        })
    }
}

/// A tensor of 32-bit floats, row-major.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub data: Vec<f32>,
}

/// The parameters of each layer of a model's file that has any, in the order of the layers.
#[derive(Debug)]
pub struct Layers {
    file: &'static str,
    layers: Vec<Vec<(String, Tensor)>>,
    next: usize,
}

impl Layers {
    /// # Errors
    /// The bytes are no such file, or a tensor is not of 32-bit floats.
    pub fn read(file: &'static str, bytes: &[u8]) -> Result<Self, WeightsError> {
        let fail = |why: &str| WeightsError { file, why: why.to_owned() };
        let model = Value::read(bytes).map_err(|why| WeightsError { file, why })?;
        let params = model
            .get("params")
            .and_then(Value::list)
            .ok_or_else(|| fail("it has no list of parameters"))?;
        let mut layers = Vec::new();
        for layer in params {
            let mut tensors = Vec::new();
            for (name, tensor) in layer.map().unwrap_or_default() {
                if *tensor == Value::Nil {
                    continue;
                }
                let name = name.text().ok_or_else(|| fail("a parameter without a name"))?;
                let tensor = read_tensor(tensor)
                    .ok_or_else(|| fail("a parameter is no tensor of 32-bit floats"))?;
                tensors.push((name.to_owned(), tensor));
            }
            if !tensors.is_empty() {
                layers.push(tensors);
            }
        }
        Ok(Self { file, layers, next: 0 })
    }

    /// The next layer's parameters of these names, of these shapes.
    ///
    /// # Errors
    /// There is none left, or it has others.
    pub fn next<const N: usize>(
        &mut self,
        wanted: [(&str, &[usize]); N],
    ) -> Result<[Vec<f32>; N], WeightsError> {
        let fail = |why: String| WeightsError { file: self.file, why };
        let layer = self
            .layers
            .get_mut(self.next)
            .ok_or_else(|| fail(format!("it has only {} layers", self.next)))?;
        let mut out = [const { Vec::new() }; N];
        for (slot, (name, shape)) in out.iter_mut().zip(wanted) {
            let found = layer.iter_mut().find(|(n, _)| n == name);
            let Some((_, tensor)) = found.filter(|(_, tensor)| tensor.shape == shape) else {
                return Err(fail(format!(
                    "layer {} has no `{name}` of shape {shape:?}",
                    self.next
                )));
            };
            *slot = std::mem::take(&mut tensor.data);
        }
        self.next += 1;
        Ok(out)
    }
}

fn read_tensor(value: &Value<'_>) -> Option<Tensor> {
    if value.get("type")?.bytes()? != b"<f4" {
        return None;
    }
    let shape: Vec<usize> = value
        .get("shape")?
        .list()?
        .iter()
        .map(|n| n.number().and_then(|n| n.try_into().ok()))
        .collect::<Option<_>>()?;
    let data: Vec<f32> = value
        .get("data")?
        .bytes()?
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let count = shape.iter().try_fold(1_usize, |n, &side| n.checked_mul(side))?;
    (count == data.len()).then_some(Tensor { shape, data })
}

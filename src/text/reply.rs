//! The reply of `POST /v1/embeddings`: bytes in, vectors out.

use serde::Deserialize;

/// Longer vectors are refused.
const MOST_DIMENSIONS: usize = 16_384;

#[derive(Deserialize)]
struct Reply {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    /// Which text it is of; left out: the next.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of `texts` texts, in their order, all of one length, finite and not zero.
///
/// # Errors
/// Why it is none.
pub(super) fn vectors(body: &str, texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let reply: Reply = serde_json::from_str(body).map_err(|error| error.to_string())?;
    if reply.data.len() != texts {
        return Err(format!("{} vectors came for {texts} texts", reply.data.len()));
    }
    let mut placed: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (at, item) in reply.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(at);
        let slot = placed.get_mut(index).filter(|slot| slot.is_none());
        let slot = slot.ok_or_else(|| format!("the index {index} is none, or came twice"))?;
        check(&item.embedding)?;
        *slot = Some(item.embedding);
    }
    let vectors: Vec<Vec<f32>> = placed.into_iter().flatten().collect();
    let lengths = || vectors.iter().map(Vec::len);
    match (lengths().min(), lengths().max()) {
        (Some(least), Some(most)) if least != most => {
            Err(format!("the vectors have {least} to {most} numbers"))
        }
        _ => Ok(vectors),
    }
}

fn check(values: &[f32]) -> Result<(), String> {
    if values.is_empty() || values.len() > MOST_DIMENSIONS {
        return Err(format!("a vector has {} numbers", values.len()));
    }
    if values.iter().any(|value| !value.is_finite()) {
        return Err("a vector holds what is no number".to_owned());
    }
    if values.iter().all(|value| *value == 0.0) {
        return Err("a vector is zero".to_owned());
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_their_texts() {
        let body = r#"{"object":"list","model":"m","data":[
            {"object":"embedding","index":1,"embedding":[0.5,1]},{"index":0,"embedding":[2,-3e-1]}]}"#;
        assert_eq!(vectors(body, 2).unwrap(), [[2.0, -0.3], [0.5, 1.0]]);
        let body = r#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#;
        assert_eq!(vectors(body, 2).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn what_is_no_list_of_vectors_is_refused_with_the_reason() {
        for (body, says) in [
            ("", "EOF"),
            ("<html>", "expected value"),
            (r#"{"error":"no"}"#, "data"),
            (r#"{"data":[]}"#, "0 vectors"),
            (r#"{"data":[{"embedding":[]}]}"#, "0 numbers"),
            (r#"{"data":[{"embedding":[0,0]}]}"#, "zero"),
            (r#"{"data":[{"embedding":[1e300]}]}"#, "out of range"),
            (r#"{"data":[{"embedding":[null]}]}"#, "null"),
            (r#"{"data":[{"embedding":"AAAA"}]}"#, "string"),
            (r#"{"data":[{"embedding":[[1],[2]]}]}"#, "sequence"),
            (r#"{"data":[{"index":7,"embedding":[1]}]}"#, "index 7"),
        ] {
            let reason = vectors(body, 1).unwrap_err();
            assert!(reason.contains(says), "{body}: {reason}");
        }
        let ragged = r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#;
        assert!(vectors(ragged, 2).unwrap_err().contains("1 to 2 numbers"));
        let twice = r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}"#;
        assert!(vectors(twice, 2).unwrap_err().contains("twice"));
    }

    proptest! {
        #[test]
        fn nothing_panics(body in ".{0,200}", texts in 0_usize..4) {
            let _ = vectors(&body, texts);
        }
    }
}

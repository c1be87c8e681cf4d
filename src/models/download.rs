//! One file over HTTP: resumable, into place only when its hash is right.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use crate::models::lock::hash_file;

/// Downloads `url` into `part`, going on where an earlier try stopped, and checks its SHA-256.
/// `progress` is called with the bytes that are there and, where known, the whole size.
/// A file with a wrong hash is removed. Returns what went wrong in words.
pub fn download(
    url: &str,
    part: &Path,
    sha256: &str,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .http_status_as_error(false)
        .build()
        .into();
    let mut have = fs::metadata(part).map_or(0, |facts| facts.len());
    let mut request = agent.get(url);
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let response = request.call().map_err(|error| error.to_string())?;
    match response.status().as_u16() {
        206 => {}
        200 => have = 0,
        416 => {
            // Nothing is left to send: the part is whole, or of another file.
            return finish(part, sha256);
        }
        status => return Err(format!("the server answered {status}")),
    }
    let length = response.headers().get("content-length");
    let length = length.and_then(|text| text.to_str().ok()?.parse::<u64>().ok());
    let whole = length.map(|left| have + left);

    let writing = |error: std::io::Error| format!("writing {}: {error}", part.display());
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .append(have > 0)
        .truncate(have == 0)
        .open(part)
        .map_err(writing)?;
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; 1 << 16];
    loop {
        progress(have, whole);
        let read =
            body.read(&mut buffer).map_err(|error| format!("after {have} bytes: {error}"))?;
        if read == 0 {
            break;
        }
        file.write_all(&buffer[..read]).map_err(writing)?;
        have += read as u64;
    }
    file.sync_all().map_err(writing)?;
    finish(part, sha256)
}

fn finish(part: &Path, sha256: &str) -> Result<(), String> {
    let found = hash_file(part).map_err(|error| error.to_string())?.to_string();
    if found == sha256 {
        return Ok(());
    }
    drop(fs::remove_file(part));
    Err(format!("its SHA-256 is {found}, expected {sha256}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::thread;

    use sha2::{Digest, Sha256};

    use super::*;

    const BODY: &[u8] = b"the weights of a small network";

    /// Answers one request: the whole body, or what its Range asks for; returns the request's Range line.
    fn server(status: Option<u16>) -> (String, thread::JoinHandle<Option<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/model.onnx", listener.local_addr().unwrap());
        let handle = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let lines: Vec<String> =
                lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let range = lines.into_iter().find(|line| line.to_lowercase().starts_with("range"));
            let from = range
                .as_ref()
                .map_or(0, |line| line.split(['=', '-']).nth(1).unwrap().parse::<usize>().unwrap());
            let status = status.unwrap_or(if from > 0 { 206 } else { 200 });
            let body = if status < 300 { &BODY[from..] } else { b"" };
            let head = format!(
                "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body).unwrap();
            range
        });
        (url, handle)
    }

    #[test]
    fn an_interrupted_download_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let part = dir.path().join("model.part");
        fs::write(&part, &BODY[..11]).unwrap();
        let (url, server) = server(None);
        let mut seen = Vec::new();
        let sha = hex::encode(Sha256::digest(BODY));
        download(&url, &part, &sha, &mut |have, whole| seen.push((have, whole))).unwrap();
        assert_eq!(fs::read(&part).unwrap(), BODY);
        assert!(server.join().unwrap().unwrap().contains("bytes=11-"));
        assert_eq!(seen.first(), Some(&(11, Some(BODY.len() as u64))));
        assert_eq!(seen.last(), Some(&(BODY.len() as u64, Some(BODY.len() as u64))));
    }

    #[test]
    fn a_wrong_file_is_refused_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let part = dir.path().join("model.part");
        let (url, server) = server(None);
        let error = download(&url, &part, &"0".repeat(64), &mut |_, _| {}).unwrap_err();
        assert!(error.contains("its SHA-256 is"), "{error}");
        assert!(!part.exists());
        server.join().unwrap();
    }

    #[test]
    fn a_refusal_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let part = dir.path().join("model.part");
        let (url, server) = server(Some(404));
        let error = download(&url, &part, &"0".repeat(64), &mut |_, _| {}).unwrap_err();
        assert_eq!(error, "the server answered 404");
        server.join().unwrap();
    }
}

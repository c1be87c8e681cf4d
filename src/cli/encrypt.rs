//! `engramd encrypt`: encrypt a memory that is not yet.

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::json;

use super::{Context, print};
use crate::encryption::FileCipher;
use crate::memorize::model::{SPOOL_PURPOSE, spool_dir};
use crate::memory;
use crate::mqtt::encrypt_outbox;

/// Encrypt everything in the store under the key of `store.key_file`. The daemon must not run.
#[derive(Debug, Args)]
#[command(
    after_help = "The key is 64 hexadecimal digits in a file; without it nobody reads the memory any more, so keep a
copy of it elsewhere. An empty store needs no command: with store.key_file set it is encrypted from the first clip.
Back to plain text: `engramd export` writes what is remembered, but no pictures and sounds.

Examples:
  openssl rand -hex 32 > /etc/engram/store.key && chmod 600 /etc/engram/store.key
  systemctl stop engramd
  engramd encrypt --set store.key_file=/etc/engram/store.key
  systemctl start engramd              # with store.key_file in engram.toml"
)]
pub(super) struct EncryptArgs {}

pub(super) fn run(_: &EncryptArgs, context: &Context) -> anyhow::Result<u8> {
    let config = &context.config;
    let Some(key) = config.store_key()? else {
        bail!(
            "no key: set store.key_file to a file with 64 hexadecimal digits (openssl rand -hex 32 makes them)"
        );
    };
    let dir = config.store_dir();
    // What is read either way comes first: an interrupted one goes on from there.
    let spool = encrypt_spool(&dir, &FileCipher::new(Some(&key), SPOOL_PURPOSE))?;
    let outbox = encrypt_outbox(&dir, &key).map_err(anyhow::Error::msg)?;
    let done = memory::encrypt(&dir, &key)?;
    if context.json {
        print::json(&json!({
            "database": done.database, "media": done.media, "spool": spool, "outbox": outbox,
        }))?;
    } else if done.database {
        let (media, shown) = (done.media, dir.display());
        print::line(format!("{shown}: the memory and {media} media files are encrypted"))?;
        print::line("Set store.key_file in engram.toml, and keep a copy of the key elsewhere.")?;
    } else {
        let (media, shown) = (done.media, dir.display());
        print::line(format!("{shown}: encrypted already; {media} media files were not yet"))?;
    }
    Ok(0)
}

fn encrypt_spool(dir: &std::path::Path, cipher: &FileCipher) -> anyhow::Result<u64> {
    let folder = spool_dir(dir);
    let mut done = 0;
    if !folder.is_dir() {
        return Ok(0);
    }
    let doing = || format!("encrypting what waits in {}", folder.display());
    for entry in std::fs::read_dir(&folder).with_context(doing)? {
        let path = entry.with_context(doing)?.path();
        if path.is_file() && path.extension().is_none_or(|ending| ending != "part") {
            done += u64::from(cipher.encrypt_file(&path).with_context(doing)?);
        }
    }
    Ok(done)
}

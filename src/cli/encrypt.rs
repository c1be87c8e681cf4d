//! `engramd encrypt`: encrypt a memory that is not yet.

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::json;

use super::context::Context;
use super::print;
use crate::daemon::ring::Ring;
use crate::memorize::model::{Spool, spool_dir};
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
    let (mut spool, mut outbox, mut ring) = (0, false, 0);
    let done = memory::encrypt(&dir, &key, || {
        let folder = spool_dir(&dir);
        let doing = || format!("encrypting what waits in {}", folder.display());
        spool = Spool::encrypt(&folder, &key).with_context(doing)?;
        outbox = encrypt_outbox(&dir, &key).map_err(anyhow::Error::msg)?;
        ring = Ring::at_rest(&dir, Some(&key), &config.ring)
            .encrypt()
            .with_context(|| format!("encrypting ring and snapshots in {}", dir.display()))?;
        anyhow::Ok(())
    })?;
    if context.json {
        print::json(&json!({
            "database": done.database, "media": done.media, "spool": spool, "outbox": outbox,
            "ring": ring,
        }))?;
        return Ok(0);
    }
    let (media, shown) = (done.media, dir.display());
    if done.database {
        print::line(format!("{shown}: the memory and {media} media files are encrypted"))?;
        print::line("Set store.key_file in engram.toml, and keep a copy of the key elsewhere.")?;
    } else {
        print::line(format!("{shown}: encrypted already; {media} media files were not yet"))?;
    }
    Ok(0)
}

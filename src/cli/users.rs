//! `engramd users`: lines of the files that say who may come in over HTTP.

use std::io::{IsTerminal as _, Read as _};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;

use super::context::Context;
use super::print;
use crate::http::accounts::{token_line, user_line};
use crate::http::visitor::{Role, Roles};

/// No password is longer, bytes.
const MAX_PASSWORD_BYTES: u64 = 4096;

/// Make lines of `http.users_file` and `http.tokens_file`: who may come in over HTTP.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd users add ava --role look,ask >> /etc/engram/http.users       asks for the password
  engramd users add ben --role look,ask,operate,erase < password >> /etc/engram/http.users
  engramd users token homepage --role look >> /etc/engram/http.tokens   shows the token once

look: see and read everything. ask: ask questions. operate: tell, name, correct, steer. erase: forget.")]
pub(super) struct UsersArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The line of somebody who logs in with a password, on standard output.
    Add(WhoArgs),
    /// The line of a program that comes with a token, on standard output; the token itself on standard error.
    Token(WhoArgs),
}

#[derive(Debug, Args)]
struct WhoArgs {
    /// Who: a–z, A–Z, 0–9, `.`, `_`, `-`.
    name: String,
    /// What they may: look, ask, operate, erase; by commas, or repeated.
    #[arg(long = "role", required = true, value_delimiter = ',', value_parser = role)]
    roles: Vec<Role>,
}

fn role(word: &str) -> Result<Role, String> {
    Role::from_word(word).ok_or_else(|| "there are look, ask, operate, erase".to_owned())
}

pub(super) fn run(args: &UsersArgs, context: &Context) -> anyhow::Result<u8> {
    let (who, token) = match &args.what {
        What::Add(who) => (who, false),
        What::Token(who) => (who, true),
    };
    let roles: Roles = who.roles.iter().copied().collect();
    if token {
        let (token, line) = token_line(&who.name, roles)?;
        if context.json {
            print::json(&json!({ "token": token, "line": line }))?;
        } else {
            eprintln!("the token, shown only now: {token}");
            print::line(line)?;
        }
        return Ok(0);
    }
    let line = user_line(&who.name, roles, &password()?)?;
    if context.json {
        print::json(&json!({ "line": line }))?;
    } else {
        print::line(line)?;
    }
    Ok(0)
}

/// Typed twice, unseen; or from standard input, without the line end.
fn password() -> anyhow::Result<String> {
    if !std::io::stdin().is_terminal() {
        let mut text = String::new();
        let input = std::io::stdin().lock();
        input.take(MAX_PASSWORD_BYTES).read_to_string(&mut text).context("reading the password")?;
        return Ok(text.trim_end_matches(['\r', '\n']).to_owned());
    }
    let ask = |what: &str| rpassword::prompt_password(what).context("reading the password");
    let password = ask("Password: ")?;
    anyhow::ensure!(password == ask("Once more: ")?, "the two are not the same");
    Ok(password)
}

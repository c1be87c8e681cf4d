//! Which right a request needs: one table. What does not stand in it needs every right.

use super::visitor::{Role, Roles};

/// What a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Whoever comes: the page itself, its login, what the API is.
    Nothing,
    /// One of these.
    AnyOf(&'static [Role]),
}

impl Need {
    /// Of a path as it came; a path that is written in another way than those of the routes reaches none of them.
    pub(super) fn of(path: &str) -> Self {
        let Some(below) = path.strip_prefix("/api/") else {
            return match path {
                "/metrics" => Self::AnyOf(&[Role::Look]),
                // Each tool needs a right of its own.
                "/mcp" => Self::AnyOf(&Role::ALL),
                _ => Self::Nothing,
            };
        };
        if below == "query/watches" {
            return Self::AnyOf(&[Role::Look, Role::Ask]);
        }
        match below.split('/').next().unwrap_or_default() {
            "login" | "logout" | "me" => Self::Nothing,
            "status" | "stats" | "describe" | "still" | "live" | "media" | "snapshots"
            | "query" | "identify" => Self::AnyOf(&[Role::Look]),
            // Who may only ask hears of the rounds of their own questions.
            "events" => Self::AnyOf(&[Role::Look, Role::Ask]),
            "ask" => Self::AnyOf(&[Role::Ask]),
            "forget" => Self::AnyOf(&[Role::Erase]),
            _ => Self::AnyOf(&[Role::Operate]),
        }
    }

    /// Whether these rights are enough.
    pub(super) fn is_met_by(self, roles: Roles) -> bool {
        match self {
            Self::Nothing => true,
            Self::AnyOf(any) => any.iter().any(|role| roles.has(*role)),
        }
    }
}

/// Whether what is published on a topic is told to somebody with these rights, whose name among askers is `asker`;
/// `reader`: for whom alone it is.
pub(super) fn may_hear(topic: &str, reader: Option<&str>, roles: Roles, asker: &str) -> bool {
    if topic.starts_with("answer/") {
        return roles.has(Role::Operate) || reader == Some(asker);
    }
    roles.has(Role::Look)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_right_opens_what_it_is_for_and_nothing_else() {
        let opens = |path: &str| -> Vec<&'static str> {
            let alone = |role: &Role| Need::of(path).is_met_by([*role].into_iter().collect());
            Role::ALL.iter().filter(|role| alone(role)).map(|role| role.word()).collect()
        };
        for (path, roles) in [
            ("/api/ask", vec!["ask"]),
            ("/api/forget", vec!["erase"]),
            ("/api/query/sql", vec!["look"]),
            ("/api/identify", vec!["look"]),
            ("/api/query/watches", vec!["look", "ask"]),
            ("/api/watch", vec!["operate"]),
            ("/api/media/person_1", vec!["look"]),
            ("/api/events", vec!["look", "ask"]),
            ("/api/remember", vec!["operate"]),
            ("/api/pin", vec!["operate"]),
            ("/api/snapshot", vec!["operate"]),
            ("/api/snapshots/1_2", vec!["look"]),
            ("/api/privacy", vec!["operate"]),
            ("/api/replay/seek", vec!["operate"]),
            ("/api/what/comes/next", vec!["operate"]),
            ("/metrics", vec!["look"]),
        ] {
            assert_eq!(opens(path), roles, "{path}");
        }
        for path in ["/", "/ui/app.js", "/healthz", "/openapi.json", "/api/login", "/api/me"] {
            assert!(Need::of(path).is_met_by(Roles::default()), "{path}");
        }
    }

    #[test]
    fn who_only_asks_hears_of_their_own_questions_alone() {
        let ask: Roles = [Role::Ask].into_iter().collect();
        assert!(may_hear("answer/q/progress", Some("ava"), ask, "ava"));
        assert!(!may_hear("answer/q/progress", Some("ben"), ask, "ava"));
        assert!(!may_hear("answer/q/progress", None, ask, "ava"));
        assert!(!may_hear("event/person", None, ask, "ava"));
        assert!(may_hear("answer/q/progress", None, Roles::all(), "ava"));
    }
}

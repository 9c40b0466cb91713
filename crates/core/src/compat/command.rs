//! How the compatible surface turns a command, a shell choice and a user into an argument vector.

use std::borrow::Cow;

/// How `exec` starts a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shell {
    /// The session's own shell.
    Session,
    /// None: the parts are the argument vector.
    None,
    /// This argument vector with the shell text behind it. An empty one is the same as [`Shell::None`].
    Argv(Vec<String>),
}

/// What a session's own shell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionShell {
    /// `sh -lc`, which reads the login profile.
    Login,
    /// `sh -c`, as the unix-local backend has it.
    Plain,
}

/// The argument vector of a command.
///
/// For a shell, one part is its text as it stands and several are quoted and joined. A user, unless empty, is reached through `sudo`.
pub fn prepare(parts: &[String], shell: &Shell, session_shell: SessionShell, user: Option<&str>) -> Vec<String> {
    let prefix = match shell {
        Shell::Session => match session_shell {
            SessionShell::Login => owned(&["sh", "-lc"]),
            SessionShell::Plain => owned(&["sh", "-c"]),
        },
        Shell::None => Vec::new(),
        Shell::Argv(argv) => argv.clone(),
    };
    let mut argv = match user {
        None | Some("") => Vec::new(),
        Some(user) => owned(&["sudo", "-u", user, "--"]),
    };
    if prefix.is_empty() {
        argv.extend_from_slice(parts);
        return argv;
    }
    argv.extend(prefix);
    argv.push(if let [text] = parts { text.clone() } else { join(parts) });
    argv
}

/// The shell that the `exec_command` tool asks for.
pub fn tool_shell(shell: Option<&str>, login: bool) -> Shell {
    match (shell, login) {
        (None, true) => Shell::Session,
        (None, false) => Shell::Argv(owned(&["sh", "-c"])),
        (Some(shell), true) => Shell::Argv(owned(&[shell, "-lc"])),
        (Some(shell), false) => Shell::Argv(owned(&[shell, "-c"])),
    }
}

/// A word that a POSIX shell reads as `text` (XCU 2.2.2, single quotes). It is quoted unless all its characters are ASCII letters,
/// digits or one of `@%+=:,./-_`.
pub fn quote(text: &str) -> Cow<'_, str> {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"@%+=:,./-_".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_safe) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r#"'"'"'"#)))
}

/// The parts as shell text that a POSIX shell splits into the same parts.
pub fn join(parts: &[String]) -> String {
    parts.iter().map(|part| quote(part)).collect::<Vec<_>>().join(" ")
}

/// A command as the unix-local backend starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnixLocal {
    /// The argument vector with paths below the root made relative.
    pub relative: Vec<String>,
    /// The directory in which it starts.
    pub cwd: String,
    /// The final argument vector.
    pub argv: Vec<String>,
}

/// Rewrites `argv` for a workspace whose resolved root is `root`.
///
/// Every argument after the first that is a path below the root becomes relative to it. The text of `sh -c TEXT` then begins with a
/// change to the root; anything else starts in the root.
pub fn unix_local(argv: &[String], root: &str) -> UnixLocal {
    let relative: Vec<String> = argv
        .iter()
        .enumerate()
        .map(|(index, argument)| if index == 0 { None } else { relative_to(argument, root) }.unwrap_or_else(|| argument.clone()))
        .collect();
    match relative.as_slice() {
        [shell, option, text, rest @ ..] if shell == "sh" && option == "-c" => {
            let mut argv = owned(&["sh", "-c", &format!("cd {} && {text}", quote(root))]);
            argv.extend_from_slice(rest);
            UnixLocal { cwd: "/".to_owned(), argv, relative }
        }
        _ => UnixLocal { cwd: root.to_owned(), argv: relative.clone(), relative },
    }
}

/// `path` relative to `root`, by names alone: `..` stays, `.` and empty names go. `None` unless `path` is absolute and lies below.
fn relative_to(path: &str, root: &str) -> Option<String> {
    if anchor(path) != anchor(root) || !path.starts_with('/') {
        return None;
    }
    let mut below = names(path);
    if !names(root).all(|name| below.next() == Some(name)) {
        return None;
    }
    let rest: Vec<&str> = below.collect();
    Some(if rest.is_empty() { ".".to_owned() } else { rest.join("/") })
}

/// Slashes that begin a path, where exactly two are a root of their own and more are one (XBD 4.13, Pathname Resolution).
fn anchor(path: &str) -> usize {
    match path.bytes().take_while(|byte| *byte == b'/').count() {
        slashes @ 0..=2 => slashes,
        _ => 1,
    }
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !matches!(*name, "" | "."))
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::relative_to;

    #[test]
    fn two_leading_slashes_are_another_root() {
        assert_eq!(relative_to("//w/x", "/w"), None);
        assert_eq!(relative_to("///w/x", "/w").as_deref(), Some("x"));
        assert_eq!(relative_to("w/x", "/w"), None);
        assert_eq!(relative_to("/wx", "/w"), None);
        assert_eq!(relative_to("/w/", "/w").as_deref(), Some("."));
        assert_eq!(relative_to("/x/y", "/").as_deref(), Some("x/y"));
    }
}

//! The command line. Programs write it, not people, so it is small and strict.

use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::path::PathBuf;

/// What to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The guest.
    Serve {
        /// A Unix socket that listens already.
        listen_fd: RawFd,
        /// Where the config is read from.
        config_fd: RawFd,
    },
    /// A way to the guest.
    Connect {
        /// The guest's socket.
        socket: PathBuf,
    },
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentError {
    #[error("use `serve --listen-fd N --config-fd N` or `connect --socket PATH`")]
    Usage,
    #[error("`{option}` takes the number of an open descriptor")]
    Descriptor { option: &'static str },
}

/// Reads the arguments behind the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Role, ArgumentError> {
    let arguments: Vec<OsString> = arguments.collect();
    let words: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
    let is = |word: &OsStr, text: &str| word == OsStr::new(text);
    match words.as_slice() {
        [role, listen, listen_fd, config, config_fd] if is(role, "serve") && is(listen, "--listen-fd") && is(config, "--config-fd") => {
            Ok(Role::Serve { listen_fd: descriptor("--listen-fd", listen_fd)?, config_fd: descriptor("--config-fd", config_fd)? })
        }
        [role, option, socket] if is(role, "connect") && is(option, "--socket") => Ok(Role::Connect { socket: PathBuf::from(socket) }),
        _ => Err(ArgumentError::Usage),
    }
}

fn descriptor(option: &'static str, word: &OsStr) -> Result<RawFd, ArgumentError> {
    word.to_str().and_then(|word| word.parse().ok()).filter(|number| *number >= 0).ok_or(ArgumentError::Descriptor { option })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{ArgumentError, Role, parse};

    fn parsed(line: &str) -> Result<Role, ArgumentError> {
        parse(line.split(' ').map(OsString::from))
    }

    #[test]
    fn each_role_has_one_form() {
        assert_eq!(parsed("serve --listen-fd 3 --config-fd 4"), Ok(Role::Serve { listen_fd: 3, config_fd: 4 }));
        assert_eq!(parsed("connect --socket /run/s"), Ok(Role::Connect { socket: "/run/s".into() }));
        for line in ["", "serve", "serve --listen-fd 3", "serve --config-fd 3 --listen-fd 4", "connect", "connect --socket a b"] {
            assert_eq!(parsed(line), Err(ArgumentError::Usage), "{line}");
        }
        for number in ["x", "-1", "3.0", ""] {
            let refused = parsed(&format!("serve --listen-fd {number} --config-fd 4"));
            assert_eq!(refused, Err(ArgumentError::Descriptor { option: "--listen-fd" }), "{number}");
        }
    }
}

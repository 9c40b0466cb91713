//! Users and groups from `/etc/passwd` and `/etc/group` of the root that we run in.
//!
//! Read by ourselves: a static C library can't load the plug-ins that its own look-up would use, and a container has the two
//! files at most. See passwd(5) and group(5).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::spawn::Credentials;

/// Larger files are refused rather than read into memory.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A user who can run programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The login name; the number in decimal if the user is not in the file.
    pub name: OsString,
    /// The user id.
    pub uid: u32,
    /// The primary group.
    pub gid: u32,
    /// All groups, the primary one included, ascending.
    pub groups: Vec<u32>,
    /// The home directory; `/` if the file names none.
    pub home: PathBuf,
    /// The login shell; `/bin/sh` if the file names none.
    pub shell: PathBuf,
}

impl User {
    /// What [`crate::spawn::Command::user`] takes.
    pub fn credentials(&self) -> Credentials {
        Credentials { uid: self.uid, gid: self.gid, groups: self.groups.clone() }
    }
}

/// Finds a user by name or number, optionally with a group as `user:group`, which then is the only one.
///
/// A number needs no entry; without one the group is the same number. `None` if a name is not known.
///
/// # Errors
///
/// When a file is there but can't be read. A missing file is an empty one.
pub fn find(wanted: &str) -> io::Result<Option<User>> {
    Ok(find_in(wanted, &read(Path::new("/etc/passwd"))?, &read(Path::new("/etc/group"))?))
}

/// The user that this process runs as; the entry may be missing.
pub fn current() -> io::Result<User> {
    let uid = rustix::process::getuid().as_raw();
    let found = find(&uid.to_string())?;
    Ok(found.unwrap_or_else(|| unlisted(uid, rustix::process::getgid().as_raw())))
}

/// Pure: over the contents of both files.
fn find_in(wanted: &str, passwd: &[u8], group: &[u8]) -> Option<User> {
    let (name, wanted_group) = wanted.split_once(':').map_or((wanted, None), |(name, group)| (name, Some(group)));
    let number = name.parse::<u32>().ok();
    // A name may consist of digits, so names win.
    let by_name = entries(passwd).find(|fields| fields.first() == Some(&name.as_bytes())).and_then(|fields| user(&fields));
    let by_number = || number.and_then(|uid| entries(passwd).filter_map(|fields| user(&fields)).find(|user| user.uid == uid));
    let mut user = by_name.or_else(by_number).or_else(|| number.map(|uid| unlisted(uid, uid)))?;
    if let Some(wanted_group) = wanted_group {
        user.gid = group_number(wanted_group, group)?;
        user.groups = vec![user.gid];
    } else {
        user.groups.extend(groups_of(&user.name, group));
        user.groups.sort_unstable();
        user.groups.dedup();
    }
    Some(user)
}

fn unlisted(uid: u32, gid: u32) -> User {
    User { name: uid.to_string().into(), uid, gid, groups: vec![gid], home: "/".into(), shell: "/bin/sh".into() }
}

/// From name, password, number, group, comment, home and shell.
fn user(fields: &[&[u8]]) -> Option<User> {
    let [name, _, uid, gid, _, home, shell, ..] = fields else { return None };
    let gid = parse(gid)?;
    let path_or =
        |path: &[u8], default: &str| if path.is_empty() { default.into() } else { PathBuf::from(OsString::from_vec(path.to_vec())) };
    Some(User {
        name: OsString::from_vec(name.to_vec()),
        uid: parse(uid)?,
        gid,
        groups: vec![gid],
        home: path_or(home, "/"),
        shell: path_or(shell, "/bin/sh"),
    })
}

fn group_number(wanted: &str, group: &[u8]) -> Option<u32> {
    let by_name = entries(group).find(|fields| fields.first() == Some(&wanted.as_bytes()));
    by_name.and_then(|fields| parse(fields.get(2)?)).or_else(|| wanted.parse().ok())
}

/// The groups that list the user as a member: name, password, number, members.
fn groups_of(name: &OsString, group: &[u8]) -> impl Iterator<Item = u32> {
    entries(group).filter_map(move |fields| {
        let [_, _, gid, members, ..] = fields.as_slice() else { return None };
        let is_member = members.split(|byte| *byte == b',').any(|member| member == name.as_encoded_bytes());
        is_member.then(|| parse(gid)).flatten()
    })
}

fn entries(file: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|line| line.split(|byte| *byte == b':').collect())
}

fn parse(number: &[u8]) -> Option<u32> {
    std::str::from_utf8(number).ok()?.parse().ok()
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    match fs::metadata(path) {
        Ok(found) if found.len() > FILE_BYTES_MAX => Err(io::ErrorKind::FileTooLarge.into()),
        Ok(_) => fs::read(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::{current, find, find_in};

    const PASSWD: &[u8] =
        b"root:x:0:0:root:/root:/bin/bash\n# comment\nbroken\nann:x:1000:100:Ann,,,:/home/ann:\n77:x:5:6::/seven:/bin/zsh\n";
    const GROUP: &[u8] = b"users:x:100:\nwheel:x:10:root,ann\nannex:x:11:annette\ndocker:x:9:ann\n";

    #[test]
    fn users_are_found_by_name_and_number() {
        let ann = find_in("ann", PASSWD, GROUP).unwrap();
        assert_eq!((ann.uid, ann.gid, ann.groups.as_slice()), (1000, 100, [9, 10, 100].as_slice()));
        assert_eq!((ann.home.as_path(), ann.shell.as_path()), (Path::new("/home/ann"), Path::new("/bin/sh")));
        assert_eq!(find_in("1000", PASSWD, GROUP), Some(ann));
        assert_eq!(find_in("77", PASSWD, GROUP).unwrap().uid, 5, "a name of digits is a name");
        assert_eq!(find_in("nobody", PASSWD, GROUP), None);
        assert_eq!(find_in("broken", PASSWD, GROUP), None);
    }

    #[test]
    fn a_number_needs_no_entry() {
        let user = find_in("4242", PASSWD, GROUP).unwrap();
        assert_eq!((user.uid, user.gid, user.groups.as_slice()), (4242, 4242, [4242].as_slice()));
        assert_eq!((user.home.as_path(), user.name.to_str()), (Path::new("/"), Some("4242")));
        assert_eq!(find_in("-1", PASSWD, GROUP), None);
        assert_eq!(find_in("", PASSWD, GROUP), None);
    }

    #[test]
    fn a_group_can_be_chosen() {
        let user = find_in("ann:wheel", PASSWD, GROUP).unwrap();
        assert_eq!((user.gid, user.groups.as_slice()), (10, [10].as_slice()));
        assert_eq!(find_in("ann:55", PASSWD, GROUP).unwrap().gid, 55);
        assert_eq!(find_in("ann:nothing", PASSWD, GROUP), None);
    }

    #[test]
    fn this_machine_has_root_and_us() {
        assert_eq!(find("root").unwrap().unwrap().uid, 0);
        assert_eq!(current().unwrap().uid, rustix::process::getuid().as_raw());
    }

    proptest! {
        #[test]
        fn no_file_panics(wanted in ".{0,8}", passwd in prop::collection::vec(any::<u8>(), 0..80), group in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = find_in(&wanted, &passwd, &group);
        }
    }
}

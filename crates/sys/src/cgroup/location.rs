//! Where the version 2 hierarchy is mounted, and which directory in it is ours.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The directory of the group that this process is in, if it can be seen.
pub(super) fn own_group() -> io::Result<Option<PathBuf>> {
    let membership = fs::read("/proc/self/cgroup")?;
    let mounts = fs::read("/proc/self/mountinfo")?;
    Ok(own_directory(&mounts, &membership).filter(|path| path.is_dir()))
}

/// Pure: from the contents of `mountinfo` and `cgroup`, see `proc_pid_mountinfo(5)` and cgroups(7).
fn own_directory(mounts: &[u8], membership: &[u8]) -> Option<PathBuf> {
    let own = lines(membership).find_map(|line| line.strip_prefix(b"0::"))?;
    let own = PathBuf::from(OsString::from_vec(own.to_vec()));
    lines(mounts).filter_map(version_2_mount).find_map(|(root, point)| {
        // A bind mount or a namespace may show a part of the hierarchy only; a group outside of it is written with "..".
        let below = own.strip_prefix(&root).ok()?;
        let visible = !below.components().any(|part| part == std::path::Component::ParentDir);
        visible.then(|| if below == Path::new("") { point } else { point.join(below) })
    })
}

/// The root within the hierarchy and the mount point, if the line is about a version 2 mount.
fn version_2_mount(line: &[u8]) -> Option<(PathBuf, PathBuf)> {
    let mut fields = line.split(|byte| *byte == b' ');
    let root = fields.nth(3)?;
    let point = fields.next()?;
    // Optional fields, up to a lone hyphen, stand between the options and the type.
    fields.by_ref().find(|field| *field == b"-")?;
    (fields.next()? == b"cgroup2").then(|| (unescape(root), unescape(point)))
}

/// Blank, tab, line feed and backslash are written in octal.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        if let (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) = (first, tail) {
            bytes.push(((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'));
            rest = tail;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::{Path, own_directory, unescape};

    #[test]
    fn the_directory_is_below_the_mount() {
        let cases: [(&[u8], &[u8], Option<&str>); 7] = [
            (b"31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n", b"0::/user.slice/a\n", Some("/sys/fs/cgroup/user.slice/a")),
            (b"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", b"9:pids:/x\n0::/\n", Some("/sys/fs/cgroup/unified")),
            (b"41 31 0:38 / /cg rw shared:9 master:2 - cgroup2 none rw\n", b"0::/a\n", Some("/cg/a")),
            (b"41 31 0:38 /docker/abc /cg rw - cgroup2 cgroup2 rw\n", b"0::/docker/abc/inner\n", Some("/cg/inner")),
            (b"41 31 0:38 /docker/abc /cg rw - cgroup2 cgroup2 rw\n", b"0::/other\n", None),
            (b"41 31 0:38 / /cg rw - cgroup2 cgroup2 rw\n", b"0::/../other\n", None),
            (b"41 31 0:38 / /cg rw - cgroup cgroup rw,pids\n", b"0::/\n", None),
        ];
        for (mounts, membership, expected) in cases {
            assert_eq!(own_directory(mounts, membership).as_deref(), expected.map(Path::new));
        }
    }

    #[test]
    fn octal_escapes_are_undone() {
        assert_eq!(unescape(br"/a\040b\134c\9"), Path::new(r"/a b\c\9"));
    }
}

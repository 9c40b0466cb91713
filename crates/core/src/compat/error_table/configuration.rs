//! Errors about what was asked for: paths, patches, archives, and the parts of a manifest.

use super::{ErrorClass, Record, Value};

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathReason {
    /// It is absolute.
    Absolute,
    /// It leaves its root.
    EscapeRoot,
}

/// Why a path in a patch is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchPathReason {
    /// It is absolute.
    Absolute,
    /// It leaves its root.
    EscapeRoot,
    /// It is empty.
    Empty,
}

impl Record {
    /// A path is refused, of a manifest or of a file operation.
    pub fn invalid_manifest_path(path: &str, reason: PathReason) -> Self {
        let (message, reason) = match reason {
            PathReason::Absolute => (format!("manifest path must be relative: {path}"), "absolute"),
            PathReason::EscapeRoot => (format!("manifest path must not escape root: {path}"), "escape_root"),
        };
        Self::new(ErrorClass::InvalidManifestPath, message, [("rel", path.into()), ("reason", reason.into())])
    }

    /// An archive's kind is unknown. `scheme` is what its name or the caller said, if anything.
    pub fn invalid_compression_scheme(path: &str, scheme: Option<&str>) -> Self {
        let message = match scheme {
            None | Some("") => "could not determine compression scheme",
            Some(_) => "compression scheme must be one of 'zip' 'tar'",
        };
        Self::new(ErrorClass::InvalidCompressionScheme, message, [("path", path.into()), ("scheme", scheme.into())])
    }

    /// A patch names a path that is refused.
    pub fn apply_patch_path(path: &str, reason: PatchPathReason) -> Self {
        let (message, reason) = match reason {
            PatchPathReason::Absolute => (format!("apply_patch path must be relative: {path}"), "absolute"),
            PatchPathReason::EscapeRoot => (format!("apply_patch path must not escape root: {path}"), "escape_root"),
            PatchPathReason::Empty => ("apply_patch path must be non-empty".to_owned(), "empty"),
        };
        Self::new(ErrorClass::ApplyPatchPath, message, [("path", path.into()), ("reason", reason.into())])
    }

    /// A patch does not apply; `message` says where. The path may not be known yet.
    pub fn apply_patch_diff(message: &str, path: Option<&str>) -> Self {
        let record = Self::new(ErrorClass::ApplyPatchDiff, message, []);
        match path {
            Some(path) => record.with_context([("path".into(), path.into())].into()),
            None => record,
        }
    }

    /// Skills are described wrongly; `message` says how.
    pub fn skills_config(message: &str) -> Self {
        Self::new(ErrorClass::SkillsConfig, message, [])
    }

    /// A local file of a manifest cannot be read.
    pub fn local_file_read(src: &str) -> Self {
        Self::new(ErrorClass::LocalFileRead, format!("failed to read local file artifact: {src}"), [("src", src.into())])
    }

    /// A local directory of a manifest cannot be read.
    pub fn local_dir_read(src: &str) -> Self {
        Self::new(ErrorClass::LocalDirRead, format!("failed to read local dir artifact: {src}"), [("src", src.into())])
    }

    /// A local file could not be checked while it was copied.
    pub fn local_checksum(src: &str) -> Self {
        Self::new(ErrorClass::LocalChecksum, format!("failed to checksum local artifact: {src}"), [("src", src.into())])
    }

    /// The sandbox has no git.
    pub fn git_missing_in_image() -> Self {
        let message = "git is required in the container image to materialize git_repo artifacts";
        Self::new(ErrorClass::GitMissingInImage, message, [])
    }

    /// A repository could not be cloned.
    pub fn git_clone(url: &str, reference: &str, stderr: Option<&str>) -> Self {
        let context = [("url", url.into()), ("ref", reference.into()), ("stderr", stderr.into())];
        Self::new(ErrorClass::GitClone, format!("git clone failed for {url}@{reference}"), context)
    }

    /// A path inside a repository is refused. `reason` is `absolute`, `empty`, `parent_traversal` or `windows_path`.
    pub fn git_subpath(repo: &str, subpath: &str, reason: &str) -> Self {
        let message = format!("git repo subpath must be a relative path inside the repository: {subpath}");
        let context = [("repo", repo.into()), ("subpath", subpath.into()), ("reason", reason.into())];
        Self::new(ErrorClass::GitSubpath, message, context)
    }

    /// A cloned repository could not be put in place.
    pub fn git_copy(src_root: &str, dest: &str, stderr: Option<&str>) -> Self {
        let context = [("src_root", src_root.into()), ("dest", dest.into()), ("stderr", stderr.into())];
        Self::new(ErrorClass::GitCopy, "copy from git repo failed", context)
    }

    /// A mount needs a program that is not there.
    pub fn mount_tool_missing(tool: &str) -> Self {
        Self::new(ErrorClass::MountToolMissing, format!("required mount tool missing: {tool}"), [("tool", tool.into())])
    }

    /// A mount is described wrongly; `message` says how.
    pub fn mount_config(message: &str) -> Self {
        Self::new(ErrorClass::MountConfig, message, [])
    }

    /// A mount's command failed.
    pub fn mount_command(command: &str, stderr: Option<&str>) -> Self {
        let context = [("command", command.into()), ("stderr", stderr.into())];
        Self::new(ErrorClass::MountCommand, "mount command failed", context)
    }

    /// A snapshot could not be stored.
    pub fn snapshot_persist(snapshot_id: &str, path: &str) -> Self {
        Self::snapshot(ErrorClass::SnapshotPersist, "failed to persist snapshot", snapshot_id, path)
    }

    /// A snapshot could not be restored.
    pub fn snapshot_restore(snapshot_id: &str, path: &str) -> Self {
        Self::snapshot(ErrorClass::SnapshotRestore, "failed to restore snapshot", snapshot_id, path)
    }

    /// A snapshot cannot be restored by design.
    pub fn snapshot_not_restorable(snapshot_id: &str, path: &str) -> Self {
        Self::snapshot(ErrorClass::SnapshotNotRestorable, "snapshot is not restorable", snapshot_id, path)
    }

    fn snapshot(class: ErrorClass, message: &str, snapshot_id: &str, path: &str) -> Self {
        Self::new(class, message, [("snapshot_id", Value::from(snapshot_id)), ("path", path.into())])
    }
}

//! Makes the wire crate's generated files from its protocol files.
//!
//! The results are checked in, so a build needs neither a protocol compiler nor this program, and a review sees what a protocol
//! change does. `check` makes them again and compares.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use protox::Compiler;

use crate::{repository, schema};

const PROTOS: &[&str] = &["crannog/guest/v1/guest.proto", "crannog/guest/v1/config.proto"];
const PROTO_FOLDER: &str = "crates/wire/proto";
const CODE: &str = "crates/wire/src/generated/crannog.guest.v1.rs";
const SCHEMA: &str = "crates/wire/schema/gen-1.json";

struct Artefact {
    path: PathBuf,
    text: String,
}

/// Writes every generated file.
pub(crate) fn write(root: &Path) -> Result<()> {
    for artefact in make(root)? {
        let folder = artefact.path.parent().context("a generated file has a folder")?;
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        fs::write(&artefact.path, artefact.text).with_context(|| format!("write {}", artefact.path.display()))?;
    }
    Ok(())
}

/// Fails when a generated file differs from what is checked in.
pub(crate) fn check(root: &Path) -> Result<()> {
    for artefact in make(root)? {
        let present = repository::text(&artefact.path)?;
        if let Some(difference) = first_difference(&present, &artefact.text) {
            bail!("{} is out of date; run `cargo xtask generate`.\n{difference}", artefact.path.display());
        }
    }
    Ok(())
}

fn make(root: &Path) -> Result<Vec<Artefact>> {
    let mut compiler = Compiler::new([root.join(PROTO_FOLDER)]).context("open the protocol folder")?;
    compiler.include_imports(true).include_source_info(true);
    compiler.open_files(PROTOS).context("compile the protocol files")?;
    let schema = schema::describe(&compiler.descriptor_pool());

    let folder = Scratch::new()?;
    tonic_prost_build::configure()
        .out_dir(&folder.0)
        .emit_rerun_if_changed(false)
        // An environment may hold secrets, so what carries one has no derived Debug.
        .skip_debug([".crannog.guest.v1.Variable", ".crannog.guest.v1.WriteRequest"])
        .compile_fds(compiler.file_descriptor_set())
        .context("generate code")?;
    let code = repository::text(&folder.0.join("crannog.guest.v1.rs"))?;
    Ok(vec![Artefact { path: root.join(CODE), text: code }, Artefact { path: root.join(SCHEMA), text: schema }])
}

/// A folder of this process's own that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("crannog-generate-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("create {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left-overs in the temporary folder harm nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn first_difference(present: &str, wanted: &str) -> Option<String> {
    if present == wanted {
        return None;
    }
    let at = present.lines().zip(wanted.lines()).take_while(|(left, right)| left == right).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(end of file)").to_owned();
    Some(format!("line {}:\n- {}\n+ {}", at + 1, line(present), line(wanted)))
}

#[cfg(test)]
mod tests {
    use super::{check, first_difference};
    use crate::repository;

    #[test]
    fn what_is_checked_in_is_what_the_protocol_files_make() {
        check(&repository::root()).expect("run `cargo xtask generate`");
    }

    #[test]
    fn a_difference_names_its_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb", "a\nc").as_deref(), Some("line 2:\n- b\n+ c"));
        assert_eq!(first_difference("a", "a\nc").as_deref(), Some("line 2:\n- (end of file)\n+ c"));
    }
}

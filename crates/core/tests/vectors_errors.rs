//! Codes, operations, classes and every recorded error of the compatible surface.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};

use crannog_core::compat::error_table::{ErrorClass, PatchPathReason, PathReason, Record};
use crannog_core::error::{ErrorCode, Operation};
use serde_json::{Value, json};

const CODES: usize = 33;
const OPERATIONS: usize = 14;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/errors.json")).unwrap()
}

fn names(list: &Value) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn codes_and_operations_come_first_and_are_all_there() {
    let vectors = vectors();
    let codes: BTreeSet<String> = ErrorCode::ALL[..CODES].iter().map(ToString::to_string).collect();
    let operations: BTreeSet<String> = Operation::ALL[..OPERATIONS].iter().map(ToString::to_string).collect();
    assert_eq!(codes, names(&vectors["error_codes"]));
    assert_eq!(operations, names(&vectors["ops"]));
}

#[test]
fn classes() {
    let ours: BTreeSet<String> = ErrorClass::ALL.iter().map(|class| class.name().to_owned()).collect();
    assert_eq!(ours, names(&vectors()["classes"]));
    for class in ErrorClass::ALL {
        assert_eq!(ErrorClass::parse(class.name()), Some(*class));
        assert_eq!(class.ancestors().last().unwrap_or(*class), ErrorClass::Sandbox);
        if let Some(facts) = class.facts() {
            assert_eq!(ErrorClass::of_code(facts.code), Some(*class));
        }
    }
    let without_class: Vec<_> = ErrorCode::ALL[..CODES].iter().filter(|code| ErrorClass::of_code(**code).is_none()).collect();
    assert_eq!(without_class, [&ErrorCode::SandboxConfigInvalid]);
}

#[test]
fn instances() {
    let vectors = vectors();
    let instances = vectors["instances"].as_array().unwrap();
    assert_eq!(instances.len(), 43);
    let mut raised = BTreeSet::new();
    for instance in instances {
        let record = raise(instance);
        let (class, facts) = (record.class(), record.facts());
        raised.insert(class);
        assert_eq!(class.name(), instance["class"], "{instance}");
        let ancestors: Vec<_> = class.ancestors().map(ErrorClass::name).chain(["Exception"]).collect();
        assert_eq!(json!(ancestors), instance["bases"], "{instance}");
        assert_eq!(facts.code.as_str(), instance["code"], "{instance}");
        assert_eq!(facts.operation.as_str(), instance["op"], "{instance}");
        assert_eq!(json!(record.retryable), instance["retryable"], "{instance}");
        assert_eq!(json!(record.message), instance["message"], "{instance}");
        assert_eq!(serde_json::to_value(&record.context).unwrap(), instance["context"], "{instance}");
        assert!(record.context.keys().all(|key| facts.context_keys.contains(&key.as_ref())), "{instance}");
    }
    let all: BTreeSet<_> = ErrorClass::ALL.iter().copied().filter(|class| class.facts().is_some()).collect();
    assert_eq!(raised, all, "every class that is raised has an instance");
}

#[test]
fn retryable_is_inherited_only_where_unknown() {
    let vectors = vectors();
    let cases = vectors["retryable_inheritance"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let outer = match case["outer"].as_str().unwrap() {
            "WorkspaceStopError(retryable=None)" => Record::workspace_stop("w"),
            "ExecTransportError(retryable=True)" => Record::exec_transport(&["a".to_owned()], true),
            other => panic!("unknown error {other}"),
        };
        let cause = &case["cause_retryable"];
        let result = if cause == "plain OSError" { outer } else { outer.caused_by(cause.as_bool()) };
        assert_eq!(json!(result.retryable), case["result"], "{case}");
    }
}

#[test]
fn added_context_wins() {
    let extra = BTreeMap::from([("path".into(), "other".into()), ("errno".into(), 5_i64.into())]);
    let record = Record::workspace_archive_write("f").with_context(extra);
    assert_eq!(serde_json::to_value(&record.context).unwrap(), json!({"path": "other", "errno": 5}));
}

/// The recorded arguments of an instance, read from its context.
struct Arguments<'a>(&'a Value);

impl<'a> Arguments<'a> {
    fn text(&self, key: &str) -> &'a str {
        self.0[key].as_str().unwrap()
    }

    fn optional(&self, key: &str) -> Option<&'a str> {
        self.0[key].as_str()
    }

    fn list(&self, key: &str) -> Vec<String> {
        self.0[key].as_array().unwrap().iter().map(|part| part.as_str().unwrap().to_owned()).collect()
    }

    fn port(value: &Value) -> u16 {
        value.as_u64().unwrap().try_into().unwrap()
    }
}

fn raise(instance: &Value) -> Record {
    let arguments = Arguments(&instance["context"]);
    let class = ErrorClass::parse(instance["class"].as_str().unwrap()).unwrap();
    let message = instance["message"].as_str().unwrap();
    raise_about_request(class, &arguments, message)
        .or_else(|| raise_at_runtime(class, &arguments, message))
        .unwrap_or_else(|| panic!("no constructor for {class:?}"))
}

fn raise_about_request(class: ErrorClass, arguments: &Arguments<'_>, message: &str) -> Option<Record> {
    Some(match class {
        ErrorClass::InvalidManifestPath => Record::invalid_manifest_path(
            arguments.text("rel"),
            if arguments.text("reason") == "absolute" { PathReason::Absolute } else { PathReason::EscapeRoot },
        ),
        ErrorClass::InvalidCompressionScheme => Record::invalid_compression_scheme(arguments.text("path"), arguments.optional("scheme")),
        ErrorClass::ApplyPatchPath => Record::apply_patch_path(
            arguments.text("path"),
            match arguments.text("reason") {
                "absolute" => PatchPathReason::Absolute,
                "escape_root" => PatchPathReason::EscapeRoot,
                "empty" => PatchPathReason::Empty,
                other => panic!("unknown reason {other}"),
            },
        ),
        ErrorClass::ApplyPatchDiff => Record::apply_patch_diff(message, arguments.optional("path")),
        ErrorClass::SkillsConfig => Record::skills_config(message),
        ErrorClass::LocalFileRead => Record::local_file_read(arguments.text("src")),
        ErrorClass::LocalDirRead => Record::local_dir_read(arguments.text("src")),
        ErrorClass::LocalChecksum => Record::local_checksum(arguments.text("src")),
        ErrorClass::GitMissingInImage => Record::git_missing_in_image(),
        ErrorClass::GitClone => Record::git_clone(arguments.text("url"), arguments.text("ref"), arguments.optional("stderr")),
        ErrorClass::GitSubpath => Record::git_subpath(arguments.text("repo"), arguments.text("subpath"), arguments.text("reason")),
        ErrorClass::GitCopy => Record::git_copy(arguments.text("src_root"), arguments.text("dest"), arguments.optional("stderr")),
        ErrorClass::MountToolMissing => Record::mount_tool_missing(arguments.text("tool")),
        ErrorClass::MountConfig => Record::mount_config(message),
        ErrorClass::MountCommand => Record::mount_command(arguments.text("command"), arguments.optional("stderr")),
        ErrorClass::SnapshotPersist => Record::snapshot_persist(arguments.text("snapshot_id"), arguments.text("path")),
        ErrorClass::SnapshotRestore => Record::snapshot_restore(arguments.text("snapshot_id"), arguments.text("path")),
        ErrorClass::SnapshotNotRestorable => Record::snapshot_not_restorable(arguments.text("snapshot_id"), arguments.text("path")),
        _ => return None,
    })
}

fn raise_at_runtime(class: ErrorClass, arguments: &Arguments<'_>, message: &str) -> Option<Record> {
    Some(match class {
        ErrorClass::ExposedPortUnavailable => {
            let exposed: Vec<u16> = arguments.0["exposed_ports"].as_array().unwrap().iter().map(Arguments::port).collect();
            Record::exposed_port_unavailable(Arguments::port(&arguments.0["port"]), &exposed, arguments.text("reason"))
        }
        ErrorClass::ExecNonZero => Record::exec_nonzero(
            &arguments.list("command"),
            i32::try_from(arguments.0["exit_code"].as_i64().unwrap()).unwrap(),
            // The recorded text stands for a byte that is not UTF-8.
            &arguments.text("stdout").split('\u{FFFD}').map(str::as_bytes).collect::<Vec<_>>().join(&0xFF),
            arguments.text("stderr").as_bytes(),
        ),
        ErrorClass::ExecTimeout => Record::exec_timeout(&arguments.list("command"), arguments.0["timeout_s"].as_f64()),
        ErrorClass::ExecTransport => {
            let record = Record::exec_transport(&arguments.list("command"), arguments.0["retry_safe"].as_bool().unwrap_or(false));
            if message == record.message { record } else { record.with_message(message) }
        }
        ErrorClass::PtySessionNotFound => Record::pty_session_not_found(arguments.0["session_id"].as_i64().unwrap()),
        ErrorClass::ApplyPatchFileNotFound => Record::apply_patch_file_not_found(arguments.text("path")),
        ErrorClass::ApplyPatchDecode => Record::apply_patch_decode(arguments.text("path")),
        ErrorClass::WorkspaceReadNotFound => Record::workspace_read_not_found(arguments.text("path")),
        ErrorClass::WorkspaceArchiveRead => Record::workspace_archive_read(arguments.text("path")),
        ErrorClass::WorkspaceArchiveWrite if message == "custom" => {
            Record::workspace_archive_write(arguments.text("path")).with_message(message)
        }
        ErrorClass::WorkspaceArchiveWrite => Record::workspace_archive_write(arguments.text("path")),
        ErrorClass::WorkspaceWriteType => Record::workspace_write_type(arguments.text("path"), arguments.text("actual_type")),
        ErrorClass::WorkspaceStop => Record::workspace_stop(arguments.text("path")),
        ErrorClass::WorkspaceStart => Record::workspace_start(arguments.text("path")),
        ErrorClass::WorkspaceRootNotFound => Record::workspace_root_not_found(arguments.text("path")),
        _ => return None,
    })
}

//! Sandboxes by their command line: made, found, listed, renewed, ended.

use crate::support::{Home, eventually, marker, processes_with};

#[test]
fn a_sandbox_is_made_found_and_ended() {
    let home = Home::new();
    let id = home.sandbox();
    assert!(id.starts_with("sbx_") && id.len() == 36, "{id}");

    let info = home.json(&["info", &id]);
    assert_eq!((info["id"].as_str(), info["state"].as_str(), info["level"].as_str()), (Some(&*id), Some("ready"), Some("none")));
    let workspace = info["workspace"].as_str().unwrap().to_owned();
    assert!(std::path::Path::new(&workspace).is_dir());
    assert_eq!(home.json(&["ls"]).as_array().unwrap().len(), 1);

    let destroyed = home.json(&["down", &id]);
    assert_eq!(destroyed["destroyed"][0].as_str(), Some(&*id));
    assert!(!std::path::Path::new(&workspace).exists(), "its workspace goes with it");
    assert_eq!(home.json(&["ls"]), serde_json::json!([]));
    let (code, error) = home.error(&["info", &id]);
    assert_eq!((code, error["code"].as_str(), error["retryable"].as_bool()), (125, Some("sandbox_not_found"), Some(false)));
    assert!(error["hint"].as_str().is_some() && error["message"].as_str().unwrap().contains(&id));
}

#[test]
fn a_sandbox_answers_to_its_name_and_to_the_beginning_of_its_id() {
    let home = Home::new();
    let id = home.ok(&["up", "--name", "box"]).trim().to_owned();
    for reference in ["box", &id[..16], &id[4..20], &id] {
        assert_eq!(home.ok(&["exec", reference, "--", "echo", "here"]), "here\n", "{reference}");
    }
    let (_, error) = home.error(&["exec", &id[..9], "--", "true"]);
    assert_eq!(error["code"], "sandbox_not_found", "five characters are too few");
    let (_, error) = home.error(&["up", "--name", "box"]);
    assert_eq!((error["code"].as_str(), error["operation"].as_str()), (Some("sandbox_name_taken"), Some("create")));
    assert_eq!(home.json(&["ls"]).as_array().unwrap().len(), 1, "a refused one leaves nothing behind");
}

#[test]
fn a_given_workspace_stays_and_variables_are_passed() {
    let home = Home::new();
    let workspace = tempfile::tempdir().unwrap();
    let id = home.ok(&["up", "--workspace", workspace.path().to_str().unwrap(), "--env", "GREETING=a=b c"]).trim().to_owned();
    home.ok(&["exec", &id, "--", "sh", "-c", "printf %s \"$GREETING\" > file"]);
    home.ok(&["down", &id]);
    assert_eq!(std::fs::read(workspace.path().join("file")).unwrap(), b"a=b c");
    let (_, error) = home.error(&["up", "--workspace", "/no/such/directory"]);
    assert_eq!((error["code"].as_str(), error["context"]["path"].as_str()), (Some("workspace_root_not_found"), Some("/no/such/directory")));
}

#[test]
fn everything_goes_down_at_once_with_all_it_runs() {
    let home = Home::new();
    let sleep = marker();
    for _ in 0..3 {
        let id = home.sandbox();
        home.json(&["start", &id, "--window", "0", "-c", &format!("setsid sleep {sleep} & sleep {sleep}")]);
    }
    eventually("six sleep", || processes_with(&sleep).len() >= 6);
    assert_eq!(home.json(&["down", "--all"])["destroyed"].as_array().unwrap().len(), 3);
    assert_eq!(processes_with(&sleep), Vec::<u32>::new());
    assert_eq!(home.ok(&["ls"]).lines().count(), 1, "the header alone");
    assert_eq!(home.json(&["down", "--all"])["destroyed"], serde_json::json!([]));
}

#[test]
fn a_lease_ends_a_sandbox_unless_it_is_renewed() {
    let home = Home::new();
    let sleep = marker();
    let id = home.ok(&["up", "--ttl", "1500ms"]).trim().to_owned();
    home.json(&["start", &id, "--window", "0", "--", "sleep", &sleep]);
    let kept = home.ok(&["up", "--ttl", "1500ms"]).trim().to_owned();
    home.ok(&["renew", &kept, "--ttl", "never"]);
    eventually("the lease ran out", || processes_with(&sleep).is_empty());
    eventually("it is lost", || home.json(&["info", &id])["state"] == "lost");
    let (_, error) = home.error(&["exec", &id, "--", "true"]);
    assert_eq!(error["code"], "sandbox_lost");
    assert_eq!(home.json(&["info", &kept])["state"], "ready");
    assert_eq!(home.json(&["reap"])["removed"], serde_json::json!([id]));
    assert_eq!(home.json(&["ls"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_part_of_several_that_cannot_be_ended_is_named_and_the_others_are_ended() {
    let home = Home::new();
    let id = home.sandbox();
    let output = home.run(&["--json", "down", "nobody", &id, "nowhere"]);
    assert_eq!(output.status.code(), Some(125));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{{\"destroyed\":[\"{id}\"]}}\n"));
    let errors: Vec<serde_json::Value> =
        output.stderr.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(errors.len(), 3, "two and a summary: {errors:?}");
}

#[test]
fn doctor_says_what_is_and_what_is_not() {
    let home = Home::new();
    let report = home.json(&["doctor"]);
    assert_eq!(report["level"], "none");
    let checks = report["checks"].as_array().unwrap();
    let status = |name: &str| checks.iter().find(|check| check["name"] == name).map(|check| check["status"].as_str().unwrap().to_owned());
    assert_eq!(status("isolation").as_deref(), Some("warn"));
    assert_eq!(status("sandbox").as_deref(), Some("ok"));
    assert_eq!(home.json(&["ls"]), serde_json::json!([]), "the trial is gone");

    let broken = home.command(&["--json", "doctor"]).env("CRANNOG_GUEST", "/no/such/guest").output().unwrap();
    assert_eq!(broken.status.code(), Some(125));
    let report: serde_json::Value = serde_json::from_slice(&broken.stdout).unwrap();
    let guest = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "guest").unwrap().clone();
    assert_eq!(guest["status"], "fail");
    assert!(guest["hint"].as_str().is_some());
}

//! What is put on record is found again, whole, and only by those who should.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crannog_core::id::SandboxId;
use crannog_store::{Options, ProcessIdentity, Record, State, Store, StoreError};

fn record(number: u128, name: Option<&str>) -> Record {
    Record {
        id: SandboxId::from_bits(number),
        name: name.map(str::to_owned),
        backend: "local".to_owned(),
        state: State::Creating,
        lease_generation: 1,
        lease_ms: Some(60_000),
        lease_expires_ms: Some(1_800_000_000_000),
        workspace: "/srv/work".into(),
        workspace_owned: true,
        runtime: "/run/x".into(),
        guest: None,
        creator: Some(ProcessIdentity { pid: 7, start_time: 99, boot: "b".to_owned() }),
        cgroup: None,
        environment: vec![(b"A".to_vec(), b"1=2".to_vec()), (b"B\xff".to_vec(), Vec::new()), (b"A".to_vec(), b"3".to_vec())],
        created_ms: 1_700_000_000_000,
        options: Options { processes_live_max: Some(3), spill_bytes: Some(u64::from(u32::MAX) + 1) },
    }
}

fn open(directory: &Path) -> Store {
    Store::open(&directory.join("store/crannog.db")).unwrap()
}

#[test]
fn a_record_is_found_by_id_name_and_prefix_until_it_is_removed() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let (first, second) = (record(1, Some("one")), record(2, None));
    store.insert_creating(&second).unwrap();
    store.insert_creating(&first).unwrap();
    let other = open(home.path());
    assert_eq!(other.get(&first.id).unwrap().as_ref(), Some(&first));
    assert_eq!(other.find_by_name("one").unwrap().as_ref(), Some(&first));
    assert_eq!(other.find_by_name("two").unwrap(), None);
    assert_eq!(other.list().unwrap(), [first.clone(), second.clone()]);
    assert_eq!(other.find_by_prefix(second.id.as_str()).unwrap(), [second]);
    assert_eq!(other.find_by_prefix("sbx_0000").unwrap().len(), 2);
    assert_eq!(other.find_by_prefix("sbx_%").unwrap(), []);
    assert!(store.remove(&first.id).unwrap());
    assert!(!other.remove(&first.id).unwrap());
    assert_eq!(other.get(&first.id).unwrap(), None);
}

#[test]
fn a_name_belongs_to_one_record_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    store.insert_creating(&record(1, Some("one"))).unwrap();
    let taken = store.insert_creating(&record(2, Some("one"))).unwrap_err();
    assert!(matches!(taken, StoreError::NameTaken { name } if name == "one"));
    let again = store.insert_creating(&record(1, Some("other"))).unwrap_err();
    assert!(matches!(again, StoreError::Query { .. }), "the same id twice is a fault, not a taken name");
    store.remove(&SandboxId::from_bits(1)).unwrap();
    store.insert_creating(&record(2, Some("one"))).unwrap();
}

#[test]
fn states_change_only_from_where_they_are_expected() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let mut sandbox = record(1, None);
    store.insert_creating(&sandbox).unwrap();
    sandbox.guest = Some(ProcessIdentity { pid: 8, start_time: 1 << 40, boot: "c".to_owned() });
    sandbox.cgroup = Some("/sys/fs/cgroup/x".into());
    assert!(store.mark_ready(&sandbox).unwrap());
    sandbox.state = State::Ready;
    assert_eq!(store.get(&sandbox.id).unwrap().as_ref(), Some(&sandbox));
    assert!(!store.mark_ready(&sandbox).unwrap(), "it is ready already");
    assert!(!store.mark(&sandbox.id, &[State::Creating, State::Lost], State::Destroying).unwrap());
    assert!(store.mark(&sandbox.id, &[State::Ready], State::Lost).unwrap());
    assert!(store.mark(&sandbox.id, State::ALL, State::Destroying).unwrap());
    assert!(!store.mark(&SandboxId::from_bits(9), State::ALL, State::Destroying).unwrap());
}

#[test]
fn lease_generations_are_handed_out_once() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let sandbox = record(1, None);
    store.insert_creating(&sandbox).unwrap();
    assert_eq!(store.advance_generation(&sandbox.id).unwrap(), Some(2));
    assert_eq!(open(home.path()).advance_generation(&sandbox.id).unwrap(), Some(3));
    assert_eq!(store.advance_generation(&SandboxId::from_bits(9)).unwrap(), None);
    assert!(!store.renewed(&sandbox.id, 2, None, None).unwrap());
    assert!(store.renewed(&sandbox.id, 3, Some(5), Some(6)).unwrap());
    assert_eq!(store.get(&sandbox.id).unwrap().unwrap().lease_ms, Some(5));
}

#[test]
fn nobody_else_can_read_the_file() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    store.insert_creating(&record(1, None)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.path().join("store")), 0o700);
    for entry in std::fs::read_dir(home.path().join("store")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn what_is_no_record_is_told_apart_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("crannog.db");
    let noise: Vec<u8> = (0..8192_u32).map(|number| (number % 251) as u8).collect();
    std::fs::write(&path, &noise).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("move"));
    assert_eq!(std::fs::read(&path).unwrap(), noise);

    std::fs::remove_file(&path).unwrap();
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    drop(foreign);
    assert!(matches!(Store::open(&path).unwrap_err(), StoreError::Foreign { .. }));

    let later = home.path().join("later.db");
    drop(Store::open(&later).unwrap());
    rusqlite::Connection::open(&later).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(Store::open(&later).unwrap_err(), StoreError::Newer { found: 99, .. }));
}

#[test]
fn a_damaged_page_is_an_error_and_not_an_empty_list() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("crannog.db");
    let store = Store::open(&path).unwrap();
    for number in 0..200 {
        store.insert_creating(&record(number, None)).unwrap();
    }
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() > 3 * 4096);
    for page in bytes.chunks_mut(4096).skip(1) {
        page[..64].fill(0xa5);
    }
    std::fs::write(&path, bytes).unwrap();
    let listed = Store::open(&path).and_then(|store| store.list());
    assert!(matches!(listed.unwrap_err(), StoreError::Damaged { .. }));
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("file"), b"").unwrap();
    let error = Store::open(&home.path().join("file/below/crannog.db")).unwrap_err();
    assert!(matches!(error, StoreError::Directory { .. }));
    assert!(error.context()["path"].contains("below"));
}

#[test]
fn a_record_with_an_unknown_word_is_an_error_that_names_the_column() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("crannog.db");
    let store = Store::open(&path).unwrap();
    store.insert_creating(&record(1, None)).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute("UPDATE sandboxes SET state = 'dreaming'", []).unwrap();
    assert!(matches!(store.list().unwrap_err(), StoreError::Record { field: "state", .. }));
}

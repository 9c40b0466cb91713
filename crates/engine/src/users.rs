//! x
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) groups: Vec<u32>,
    pub(crate) name: String,
    pub(crate) home: Vec<u8>,
}
pub(crate) fn find(_: &str) -> std::io::Result<Option<User>> {
    Ok(None)
}
pub(crate) fn own_uid() -> u32 {
    0
}
pub(crate) fn set_size(_: &crannog_sys::async_fd::AsyncFile, _: usize) -> std::io::Result<()> {
    Ok(())
}

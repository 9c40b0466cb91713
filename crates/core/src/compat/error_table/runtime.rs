//! Errors of a running sandbox: commands, ports, terminals and files.

use super::{Context, ErrorClass, Record, Value};

impl Record {
    /// A port cannot be reached from outside. One that was never configured will not be next time either.
    pub fn exposed_port_unavailable(port: u16, exposed_ports: &[u16], reason: &str) -> Self {
        let is_configured = reason != "not_configured";
        let what = if is_configured { "could not be resolved" } else { "is not configured" };
        let ports = exposed_ports.iter().map(|port| Value::Integer(i64::from(*port))).collect();
        let context = [("port", i64::from(port).into()), ("exposed_ports", Value::List(ports)), ("reason", reason.into())];
        let message = format!("port {port} {what} for host exposure");
        let record = Self::new(ErrorClass::ExposedPortUnavailable, message, context);
        if is_configured { record } else { record.with_retryable(Some(false)) }
    }

    /// A helper command ended with another code than 0. Its output is decoded with replacement and not cut here.
    pub fn exec_nonzero(command: &[String], exit_code: i32, stdout: &[u8], stderr: &[u8]) -> Self {
        let (stdout, stderr) = (String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr));
        let message = match (stdout.as_ref(), stderr.as_ref()) {
            ("", "") => format!("command exited with code {exit_code}"),
            (text, "") | ("", text) => text.to_owned(),
            (stdout, stderr) => format!("stdout: {stdout}\nstderr: {stderr}"),
        };
        let details = [("exit_code", i64::from(exit_code).into()), ("stdout", (&*stdout).into()), ("stderr", (&*stderr).into())];
        Self::new(ErrorClass::ExecNonZero, message, details).of_command(command)
    }

    /// A command outlived its timeout.
    pub fn exec_timeout(command: &[String], timeout_s: Option<f64>) -> Self {
        let timeout = timeout_s.map_or(Value::Null, Value::Number);
        Self::new(ErrorClass::ExecTimeout, "command timed out", [("timeout_s", timeout)]).of_command(command)
    }

    /// A command could not be run at all. `retry_safe` promises that nothing has happened yet, so that it may be tried another way.
    pub fn exec_transport(command: &[String], retry_safe: bool) -> Self {
        let record = Self::new(ErrorClass::ExecTransport, "exec transport error", []).of_command(command);
        if !retry_safe {
            return record;
        }
        let promise = Context::from([("retry_safe".into(), Value::Bool(true))]);
        record.with_retryable(Some(true)).with_context(promise)
    }

    /// No process with this id.
    pub fn pty_session_not_found(session_id: i64) -> Self {
        let message = format!("PTY session not found: {session_id}");
        Self::new(ErrorClass::PtySessionNotFound, message, [("session_id", session_id.into())])
    }

    /// A file that a patch changes is missing.
    pub fn apply_patch_file_not_found(path: &str) -> Self {
        Self::about_path(ErrorClass::ApplyPatchFileNotFound, format!("apply_patch missing file: {path}"), path)
    }

    /// A file that a patch changes is not UTF-8.
    pub fn apply_patch_decode(path: &str) -> Self {
        Self::about_path(ErrorClass::ApplyPatchDecode, format!("apply_patch could not decode file: {path}"), path)
    }

    /// A file to read is missing.
    pub fn workspace_read_not_found(path: &str) -> Self {
        Self::about_path(ErrorClass::WorkspaceReadNotFound, format!("file not found: {path}"), path)
    }

    /// A file could not be read. The words speak of an archive for plain files, too.
    pub fn workspace_archive_read(path: &str) -> Self {
        Self::about_path(ErrorClass::WorkspaceArchiveRead, format!("failed to read archive for path: {path}"), path)
    }

    /// A file could not be written. The words speak of an archive for plain files, too.
    pub fn workspace_archive_write(path: &str) -> Self {
        Self::about_path(ErrorClass::WorkspaceArchiveWrite, format!("failed to write archive for path: {path}"), path)
    }

    /// Something else than bytes was to be written; `actual_type` is its name.
    pub fn workspace_write_type(path: &str, actual_type: &str) -> Self {
        let context = [("path", path.into()), ("actual_type", actual_type.into())];
        Self::new(ErrorClass::WorkspaceWriteType, "write() expects a binary file-like object", context)
    }

    /// The workspace could not be saved while stopping.
    pub fn workspace_stop(path: &str) -> Self {
        Self::about_path(ErrorClass::WorkspaceStop, "failed to stop session", path)
    }

    /// The workspace could not be made ready.
    pub fn workspace_start(path: &str) -> Self {
        Self::about_path(ErrorClass::WorkspaceStart, "failed to start session", path)
    }

    /// The workspace directory is gone.
    pub fn workspace_root_not_found(path: &str) -> Self {
        Self::about_path(ErrorClass::WorkspaceRootNotFound, format!("workspace root not found: {path}"), path)
    }

    fn about_path(class: ErrorClass, message: impl Into<String>, path: &str) -> Self {
        Self::new(class, message, [("path", path.into())])
    }

    /// Adds the command, as parts and as one text that is joined but not quoted.
    fn of_command(self, command: &[String]) -> Self {
        self.with_context([("command".into(), command.into()), ("command_str".into(), command.join(" ").as_str().into())].into())
    }
}

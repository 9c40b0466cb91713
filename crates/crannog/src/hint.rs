//! What a person can do about an error, by its code.

use crannog_core::error::ErrorCode;

/// The advice for a code, in the imperative. `None` where there is none that fits every case.
pub(crate) fn of(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::SandboxNotFound => "list the sandboxes that there are; it may have been destroyed or its lease may have run out",
        ErrorCode::SandboxNameTaken => "choose another name, or destroy the sandbox that has it",
        ErrorCode::SandboxLost => "destroy it and make a new one; its workspace is still there if it was yours",
        ErrorCode::SandboxStartFailed => "see the causes; `doctor` checks what a sandbox needs of this machine",
        ErrorCode::LeaseFenced => "somebody else has taken this sandbox over; open it again to work with it",
        ErrorCode::ProgramNotFound => "check the spelling and the command's PATH; a shell text is started with `sh -c`",
        ErrorCode::ProgramNotExecutable => "make the file executable, or name its interpreter",
        ErrorCode::WorkingDirectoryNotFound => "make the directory first; a relative one is looked for in the workspace",
        ErrorCode::UserUnavailable => "name a user of the sandbox; only a guest that runs as root can change users",
        ErrorCode::ArgumentsTooLarge => "pass large data through a file or standard input",
        ErrorCode::ProcessLimitReached => "end a process that is no longer needed, or make the sandbox with a higher limit",
        ErrorCode::ProcessEnded => "its transcript can still be read; start a new process to go on",
        ErrorCode::PtySessionNotFound => "list the processes that are still known; ended ones are forgotten after a while",
        ErrorCode::StdinClosed => "start the process with a terminal or with piped input",
        ErrorCode::NotATerminal => "start the process with a terminal",
        ErrorCode::NotRecorded => "start the process with a terminal and ask for a recording",
        ErrorCode::ProtocolMismatch => "make the sandbox anew with this version, or use the version that made it",
        ErrorCode::GuestUnreachable => "try again; if it stays so, destroy the sandbox",
        ErrorCode::GuestMissing => "install `crannog-guest` beside this program, or set CRANNOG_GUEST to its path",
        ErrorCode::ExecTimeout => "allow more time, or start it and collect its output bit by bit",
        _ => return None,
    })
}

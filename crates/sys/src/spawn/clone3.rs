//! Making a child that is in its cgroup from birth.
//!
//! Entering a group by writing to `cgroup.procs` waits for a grace period of the kernel: 5 to 20 ms after an idle moment,
//! far more than the whole start. `CLONE_INTO_CGROUP` does not, but only `clone3` takes it, which the C library does not
//! wrap; and as the child needs a stack of its own, the call must be made by hand.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;

use super::stack::Stack;

/// `struct clone_args` up to `cgroup`, see clone3(2). All fields are 64 bits wide on every architecture.
#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Runs `entry(argument)` in a new child on `stack`, in the cgroup whose directory is `cgroup`.
///
/// # Safety
///
/// `entry` must never return. What `argument` leads to, `stack` and `pidfd` must stay valid for the child's use of them; with
/// `CLONE_VFORK` in `flags` that is until this call returns.
///
/// # Errors
///
/// The number of the kernel's error; `ENOSYS` where this architecture has no such call here.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn clone_into_cgroup(
    entry: extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
    stack: &Stack,
    flags: c_int,
    pidfd: *mut c_int,
    cgroup: RawFd,
) -> Result<c_int, c_int> {
    /// Missing in the bindings as a 64-bit flag; see clone3(2).
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

    let arguments = CloneArguments {
        flags: u64::from(flags.unsigned_abs()) | CLONE_INTO_CGROUP,
        pidfd: pidfd as u64,
        stack: stack.bottom() as u64,
        stack_size: Stack::LENGTH_BYTES as u64,
        cgroup: u64::from(cgroup.unsigned_abs()),
        ..CloneArguments::default()
    };
    let result: i64;
    // SAFETY: the kernel reads `arguments` for its own size. In the child, which has a 0 in rax and its own stack pointer,
    // 16-byte aligned, only the call of `entry` is executed, which never returns; the registers that hold it and its
    // argument are kept by the system call. The parent goes on behind with all but rax, rcx and r11 unchanged.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "mov rdi, r13",
            "call r12",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") &raw const arguments,
            in("rsi") size_of::<CloneArguments>(),
            in("r12") entry,
            in("r13") argument,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    // Pids and error numbers fit; nothing may panic here, since this also runs in a child.
    let result = c_int::try_from(result).unwrap_or(-libc::EOVERFLOW);
    if result < 0 { Err(-result) } else { Ok(result) }
}

/// See above; elsewhere the child enters the group itself.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn clone_into_cgroup(
    _entry: extern "C" fn(*mut c_void) -> c_int,
    _argument: *mut c_void,
    _stack: &Stack,
    _flags: c_int,
    _pidfd: *mut c_int,
    _cgroup: RawFd,
) -> Result<c_int, c_int> {
    Err(libc::ENOSYS)
}

//! From a key and its modifiers to bytes.

use super::Modes;

const ESC: u8 = 0x1B;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Modifiers {
    pub(super) ctrl: bool,
    pub(super) alt: bool,
    pub(super) shift: bool,
}

impl Modifiers {
    /// xterm's parameter for them; `None` without any.
    fn parameter(self) -> Option<u8> {
        let bits = u8::from(self.shift) | u8::from(self.alt) << 1 | u8::from(self.ctrl) << 2;
        (bits > 0).then_some(bits + 1)
    }
}

/// A key with a name, by how it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// One byte, and another with ctrl.
    Byte(u8, Option<u8>),
    Tab,
    /// `CSI letter`; `SS3 letter` in application mode.
    Cursor(u8),
    /// `SS3 letter` without modifiers.
    Function(u8),
    /// `CSI number ~`.
    Tilde(u8),
}

/// The key with this name in lower case.
pub(super) fn named(name: &str) -> Option<Named> {
    Some(match name {
        "enter" | "return" => Named::Byte(b'\r', None),
        "tab" => Named::Tab,
        "escape" | "esc" => Named::Byte(ESC, None),
        "space" => Named::Byte(b' ', Some(0)),
        "backspace" => Named::Byte(0x7F, Some(0x08)),
        "up" => Named::Cursor(b'A'),
        "down" => Named::Cursor(b'B'),
        "right" => Named::Cursor(b'C'),
        "left" => Named::Cursor(b'D'),
        "end" => Named::Cursor(b'F'),
        "home" => Named::Cursor(b'H'),
        "insert" | "ins" => Named::Tilde(2),
        "delete" | "del" => Named::Tilde(3),
        "page-up" | "pageup" | "pgup" => Named::Tilde(5),
        "page-down" | "pagedown" | "pgdn" => Named::Tilde(6),
        _ => return function(name.strip_prefix('f')?.parse().ok()?),
    })
}

/// The function key with this number, 1 to 20. The gaps in the numbering are those of the DEC keyboard.
fn function(number: u8) -> Option<Named> {
    Some(match number {
        1..=4 => Named::Function(b'P' + number - 1),
        5 => Named::Tilde(15),
        6..=10 => Named::Tilde(number + 11),
        11..=14 => Named::Tilde(number + 12),
        15 | 16 => Named::Tilde(number + 13),
        17..=20 => Named::Tilde(number + 14),
        _ => return None,
    })
}

/// Appends a named key. `None` if nothing is sent for it.
pub(super) fn encode(key: Named, modifiers: Modifiers, modes: Modes, bytes: &mut Vec<u8>) -> Option<()> {
    match key {
        Named::Byte(plain, with_ctrl) => {
            let byte = if modifiers.ctrl { with_ctrl? } else { plain };
            prefix_alt(modifiers, bytes);
            bytes.push(byte);
        }
        Named::Tab if modifiers.ctrl => return None,
        Named::Tab => {
            prefix_alt(modifiers, bytes);
            bytes.extend_from_slice(if modifiers.shift { b"\x1b[Z" } else { b"\t" });
        }
        Named::Cursor(letter) => encode_letter(letter, modifiers, modes.application_cursor, bytes),
        Named::Function(letter) => encode_letter(letter, modifiers, true, bytes),
        Named::Tilde(number) => {
            bytes.extend_from_slice(format!("\x1b[{number}").as_bytes());
            if let Some(parameter) = modifiers.parameter() {
                bytes.extend_from_slice(format!(";{parameter}").as_bytes());
            }
            bytes.push(b'~');
        }
    }
    Some(())
}

/// Appends a character key. `None` if there is no control character for it.
pub(super) fn encode_character(character: char, modifiers: Modifiers, bytes: &mut Vec<u8>) -> Option<()> {
    let sent = if modifiers.ctrl {
        char::from(control(character)?)
    } else if modifiers.shift {
        // Other characters than letters are on keys of their own, which differ between keyboards.
        character.is_ascii_alphabetic().then(|| character.to_ascii_uppercase())?
    } else {
        character
    };
    prefix_alt(modifiers, bytes);
    bytes.extend_from_slice(sent.encode_utf8(&mut [0; 4]).as_bytes());
    Some(())
}

fn encode_letter(letter: u8, modifiers: Modifiers, is_ss3: bool, bytes: &mut Vec<u8>) {
    match modifiers.parameter() {
        Some(parameter) => bytes.extend_from_slice(format!("\x1b[1;{parameter}").as_bytes()),
        None => bytes.extend_from_slice(if is_ss3 { b"\x1bO" } else { b"\x1b[" }),
    }
    bytes.push(letter);
}

fn prefix_alt(modifiers: Modifiers, bytes: &mut Vec<u8>) {
    if modifiers.alt {
        bytes.push(ESC);
    }
}

/// The control character that a key sends with ctrl (ECMA-48's table, and DEL for `?`).
fn control(character: char) -> Option<u8> {
    let byte = u8::try_from(character).ok()?;
    match byte.to_ascii_uppercase() {
        upper @ b'@'..=b'_' => Some(upper & 0x1F),
        b'?' => Some(0x7F),
        b'/' => Some(0x1F),
        _ => None,
    }
}

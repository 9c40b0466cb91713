//! Keys by name, as the bytes that a terminal sends for them (xterm's control sequences; the encoding that terminfo's
//! `xterm-256color` describes).
//!
//! A sequence is written as words: `ctrl-c`, `up`, `shift-tab`, `alt-x`, `f5`, one character as itself, `"text"` or `'text'` for
//! text to type, and `paste:` with text or a quoted text for a bracketed paste. In double quotes `\n`, `\r`, `\t`, `\e`, `\\` and
//! `\"` have their usual meaning; in single quotes nothing has.

mod encoding;
mod words;

use encoding::Modifiers;

/// A sequence of keys cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// There is nothing in it.
    #[error("no keys were given: name some, such as ctrl-c, up or \"text\"")]
    FindKeys,
    /// A word is no key.
    #[error("unknown key {word:?}: use names such as enter, ctrl-c, alt-x, up, f5, or quote text that is to be typed")]
    NameKey {
        /// The word.
        word: String,
    },
    /// A terminal has no bytes for this key with these modifiers.
    #[error("terminals send nothing for {word:?}: leave the modifier out")]
    ModifyKey {
        /// The word.
        word: String,
    },
    /// A quote is not closed.
    #[error("a {quote} is not closed: close it, or put it in quotes itself")]
    CloseQuote {
        /// The quote.
        quote: char,
    },
    /// A backslash stands before something that has no meaning there.
    #[error("a backslash before {character:?} means nothing in double quotes: use single quotes, or \\\\ for a backslash")]
    ReadEscape {
        /// What stands behind the backslash.
        character: char,
    },
    /// A pasted text holds the sequence that ends a paste, so that what follows it would be typed.
    #[error("the pasted text holds the end-of-paste sequence: take it out")]
    EndPaste,
}

/// What a program has asked of its terminal, as far as it changes what keys send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modes {
    /// Cursor keys are in application mode (DECCKM, `CSI ? 1 h`).
    pub application_cursor: bool,
}

/// The bytes of a sequence of keys, for a terminal in its normal modes.
pub fn parse(keys: &str) -> Result<Vec<u8>, KeysError> {
    parse_with(keys, Modes::default())
}

/// The bytes of a sequence of keys, for a terminal in these modes.
pub fn parse_with(keys: &str, modes: Modes) -> Result<Vec<u8>, KeysError> {
    let mut bytes = Vec::new();
    let mut has_keys = false;
    let mut rest = keys.trim_start();
    while !rest.is_empty() {
        let (word, behind) = words::next(rest)?;
        match word {
            words::Word::Text(text) => bytes.extend_from_slice(text.as_bytes()),
            words::Word::Paste(text) => paste(&text, &mut bytes)?,
            words::Word::Key(name) => key(name, modes, &mut bytes)?,
        }
        has_keys = true;
        rest = behind.trim_start();
    }
    if has_keys { Ok(bytes) } else { Err(KeysError::FindKeys) }
}

/// Line ends become carriage returns, as terminals paste them.
fn paste(text: &str, bytes: &mut Vec<u8>) -> Result<(), KeysError> {
    if text.contains("\x1b[201~") {
        return Err(KeysError::EndPaste);
    }
    bytes.extend_from_slice(b"\x1b[200~");
    bytes.extend_from_slice(text.replace("\r\n", "\r").replace('\n', "\r").as_bytes());
    bytes.extend_from_slice(b"\x1b[201~");
    Ok(())
}

fn key(word: &str, modes: Modes, bytes: &mut Vec<u8>) -> Result<(), KeysError> {
    let (modifiers, name) = split_modifiers(word);
    let sent = if let Some(named) = encoding::named(&name.to_ascii_lowercase()) {
        encoding::encode(named, modifiers, modes, bytes)
    } else if let Some(character) = only(name) {
        encoding::encode_character(character, modifiers, bytes)
    } else {
        return Err(KeysError::NameKey { word: word.to_owned() });
    };
    sent.ok_or_else(|| KeysError::ModifyKey { word: word.to_owned() })
}

fn split_modifiers(word: &str) -> (Modifiers, &str) {
    let mut modifiers = Modifiers::default();
    let mut name = word;
    while let Some((prefix, rest)) = name.split_once('-').filter(|(_, rest)| !rest.is_empty()) {
        match prefix.to_ascii_lowercase().as_str() {
            "ctrl" => modifiers.ctrl = true,
            "alt" => modifiers.alt = true,
            "shift" => modifiers.shift = true,
            _ => break,
        }
        name = rest;
    }
    (modifiers, name)
}

fn only(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.as_str().is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{KeysError, Modes, parse, parse_with};

    #[test]
    fn keys_send_what_xterm_sends() {
        let cases: &[(&str, &str)] = &[
            ("ctrl-c", "\x03"),
            ("CTRL-C", "\x03"),
            ("ctrl-[", "\x1b"),
            ("ctrl-]", "\x1d"),
            ("ctrl-\\", "\x1c"),
            ("ctrl-space", "\0"),
            ("ctrl-?", "\x7f"),
            ("ctrl-_", "\x1f"),
            ("enter", "\r"),
            ("tab", "\t"),
            ("shift-tab", "\x1b[Z"),
            ("escape", "\x1b"),
            ("backspace", "\x7f"),
            ("alt-backspace", "\x1b\x7f"),
            ("alt-x", "\x1bx"),
            ("alt-X", "\x1bX"),
            ("alt--", "\x1b-"),
            ("ctrl-alt-c", "\x1b\x03"),
            ("up", "\x1b[A"),
            ("ctrl-right", "\x1b[1;5C"),
            ("shift-alt-home", "\x1b[1;4H"),
            ("delete", "\x1b[3~"),
            ("page-up", "\x1b[5~"),
            ("ctrl-page-down", "\x1b[6;5~"),
            ("f1", "\x1bOP"),
            ("shift-f1", "\x1b[1;2P"),
            ("f5", "\x1b[15~"),
            ("f12", "\x1b[24~"),
            ("ctrl-f6", "\x1b[17;5~"),
            ("a - é 5", "a-é5"),
            (r#""let me\n" 'it \n is'  down"#, "let me\nit \\n is\x1b[B"),
            ("paste:ls", "\x1b[200~ls\x1b[201~"),
            ("paste:\"a\\nb\" enter", "\x1b[200~a\rb\x1b[201~\r"),
            ("\"\"", ""),
        ];
        for (keys, bytes) in cases {
            assert_eq!(parse(keys).as_deref(), Ok(bytes.as_bytes()), "{keys}");
        }
        let modes = Modes { application_cursor: true };
        assert_eq!(parse_with("up end shift-up delete", modes).as_deref(), Ok(&b"\x1bOA\x1bOF\x1b[1;2A\x1b[3~"[..]));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let word = |word: &str| word.to_owned();
        let cases = [
            ("", KeysError::FindKeys),
            ("  ", KeysError::FindKeys),
            ("return-key", KeysError::NameKey { word: word("return-key") }),
            ("f21", KeysError::NameKey { word: word("f21") }),
            ("ctrl-", KeysError::NameKey { word: word("ctrl-") }),
            ("hello", KeysError::NameKey { word: word("hello") }),
            ("ctrl-1", KeysError::ModifyKey { word: word("ctrl-1") }),
            ("ctrl-é", KeysError::ModifyKey { word: word("ctrl-é") }),
            ("enter 'x", KeysError::CloseQuote { quote: '\'' }),
            ("\"x\\\"", KeysError::CloseQuote { quote: '"' }),
            ("\"\\q\"", KeysError::ReadEscape { character: 'q' }),
            ("paste:\"\\e[201~rm\"", KeysError::EndPaste),
        ];
        for (keys, error) in cases {
            assert_eq!(parse(keys), Err(error), "{keys}");
        }
    }

    proptest! {
        #[test]
        fn quoted_text_is_typed_as_it_is(text in "[^']*") {
            prop_assert_eq!(parse(&format!("'{text}'")), Ok(text.into_bytes()));
        }

        #[test]
        fn nothing_panics(keys in ".*") {
            let _ = parse(&keys);
        }
    }
}

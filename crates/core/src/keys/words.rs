//! A sequence of keys as words: names, quoted text, pastes.

use std::borrow::Cow;

use super::KeysError;

/// One word of a sequence.
pub(super) enum Word<'a> {
    /// The name of a key.
    Key(&'a str),
    /// Text to type.
    Text(Cow<'a, str>),
    /// Text to paste.
    Paste(Cow<'a, str>),
}

/// The first word of `text`, which is not empty and does not begin with blanks, and what follows it.
pub(super) fn next(text: &str) -> Result<(Word<'_>, &str), KeysError> {
    if let Some(pasted) = text.strip_prefix("paste:") {
        if let Some((quoted, rest)) = quoted(pasted)? {
            return Ok((Word::Paste(quoted), rest));
        }
        let (plain, rest) = plain(pasted);
        return Ok((Word::Paste(plain.into()), rest));
    }
    if let Some((quoted, rest)) = quoted(text)? {
        return Ok((Word::Text(quoted), rest));
    }
    let (name, rest) = plain(text);
    Ok((Word::Key(name), rest))
}

fn plain(text: &str) -> (&str, &str) {
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// The quoted text at the beginning of `text` and what follows its end; `None` without a quote.
fn quoted(text: &str) -> Result<Option<(Cow<'_, str>, &str)>, KeysError> {
    if let Some(inside) = text.strip_prefix('\'') {
        let (verbatim, rest) = inside.split_once('\'').ok_or(KeysError::CloseQuote { quote: '\'' })?;
        return Ok(Some((verbatim.into(), rest)));
    }
    let Some(inside) = text.strip_prefix('"') else { return Ok(None) };
    let mut meant = String::new();
    let mut characters = inside.chars();
    loop {
        let character = characters.next().ok_or(KeysError::CloseQuote { quote: '"' })?;
        match character {
            '"' => return Ok(Some((meant.into(), characters.as_str()))),
            '\\' => {
                let escaped = characters.next().ok_or(KeysError::CloseQuote { quote: '"' })?;
                meant.push(escape(escaped).ok_or(KeysError::ReadEscape { character: escaped })?);
            }
            other => meant.push(other),
        }
    }
}

const fn escape(character: char) -> Option<char> {
    Some(match character {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'e' => '\u{1b}',
        '\\' | '"' => character,
        _ => return None,
    })
}

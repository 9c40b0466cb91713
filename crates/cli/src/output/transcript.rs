//! A transcript, printed as it is read: bytes, text, or one JSON document for each piece.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crannog::{End, Part, Stream};
use crannog_core::escape::Scanner;
use crannog_core::utf8::Decoder;
use serde_json::json;

use super::{Output, data, document, json, words};
use crate::failure::Failure;

/// Prints pieces in their order.
#[derive(Debug)]
pub(crate) struct Printer {
    output: Output,
    raw: bool,
    stdout: Text,
    stderr: Text,
}

/// One stream's way from bytes to harmless text. Each has its own, so that characters torn by the other stream stay whole.
#[derive(Debug, Default)]
struct Text {
    decoder: Decoder,
    scanner: Scanner,
}

impl Printer {
    /// Prints bytes as they are when `raw`.
    pub(crate) fn new(output: Output, raw: bool) -> Self {
        Self { output, raw, stdout: Text::default(), stderr: Text::default() }
    }

    /// Prints a piece.
    pub(crate) fn part(&mut self, part: &Part) -> Result<(), Failure> {
        if self.output.is_json() {
            let stream = match part.stream {
                Stream::Stdout => "stdout",
                Stream::Stderr => "stderr",
            };
            return document(&json!({"offset": part.offset, "stream": stream, "data_b64": STANDARD.encode(&part.bytes)}));
        }
        if self.raw {
            return data(&part.bytes);
        }
        let text = match part.stream {
            Stream::Stdout => self.stdout.take(&part.bytes),
            Stream::Stderr => self.stderr.take(&part.bytes),
        };
        data(text.as_bytes())
    }

    /// Says that bytes are missing here.
    pub(crate) fn lost(&mut self, bytes: u64) -> Result<(), Failure> {
        if bytes == 0 {
            return Ok(());
        }
        if self.output.is_json() {
            return document(&json!({"lost_bytes": bytes}));
        }
        self.output.warning(&format!("{} are not kept any more", words::bytes(bytes)));
        Ok(())
    }

    /// Prints what is left: characters that never became whole if the process has ended, and in JSON where to go on.
    pub(crate) fn finish(&mut self, next: u64, end: Option<&End>) -> Result<(), Failure> {
        if self.output.is_json() {
            return document(&json!({"next": next, "end": end.map(json::end)}));
        }
        if self.raw || end.is_none() {
            return Ok(());
        }
        let rest = format!("{}{}", self.stdout.finish(), self.stderr.finish());
        data(rest.as_bytes())
    }
}

impl Text {
    fn take(&mut self, bytes: &[u8]) -> String {
        let mut decoded = String::new();
        self.decoder.decode(bytes, &mut decoded);
        self.strip(&decoded)
    }

    fn finish(&mut self) -> String {
        let mut decoded = String::new();
        self.decoder.finish(&mut decoded);
        self.strip(&decoded)
    }

    fn strip(&mut self, decoded: &str) -> String {
        let mut text = String::with_capacity(decoded.len());
        self.scanner.strip(decoded, &mut text);
        text
    }
}

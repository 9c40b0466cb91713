//! Colours, or their absence. Everything can be understood without them.

use std::env;

use crate::arguments::ColorChoice;

/// Paints text, if colours are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colours {
    on: bool,
}

impl Colours {
    /// Decides from the wish, from whether the text goes to a terminal, and from `NO_COLOR` and `TERM`.
    pub(crate) fn choose(choice: ColorChoice, terminal: bool) -> Self {
        let refused =
            || env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || env::var_os("TERM").is_some_and(|term| term == "dumb");
        let on = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !refused(),
        };
        Self { on }
    }

    /// Bold.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// For what matters less.
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// For failures.
    pub(crate) fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// For what is well.
    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// For warnings.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// For hints.
    pub(crate) fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::Colours;
    use crate::arguments::ColorChoice;

    #[test]
    fn colours_are_used_only_when_they_are_on() {
        assert_eq!(Colours::choose(ColorChoice::Always, false).red("x"), "\x1b[1;31mx\x1b[0m");
        assert_eq!(Colours::choose(ColorChoice::Never, true).red("x"), "x");
        assert_eq!(Colours::choose(ColorChoice::Auto, false).red("x"), "x");
    }
}

//! Tables: one listing, shown aligned to a person and tab-separated to a program.

use comfy_table::{ContentArrangement, presets};

use super::colours::Colours;

/// Rows under a header.
#[derive(Debug)]
pub(crate) struct Table {
    header: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub(crate) fn new(header: &'static [&'static str]) -> Self {
        Self { header, rows: Vec::new() }
    }

    /// Adds a row, a cell for each column. Control characters are shown escaped, so that a command's name cannot act on the terminal.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }

    /// For a person.
    pub(crate) fn aligned(&self, colours: Colours) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.header);
        for row in &self.rows {
            table.add_row(row);
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        let text = table.to_string();
        let mut lines = text.lines().map(str::trim_end);
        let mut aligned = colours.bold(lines.next().unwrap_or_default());
        aligned.push('\n');
        for line in lines {
            aligned.push_str(line);
            aligned.push('\n');
        }
        aligned
    }

    /// For a program: a header line, then a line for each row, cells parted by tabs.
    pub(crate) fn tabbed(&self) -> String {
        let mut text = self.header.join("\t");
        text.push('\n');
        for row in &self.rows {
            text.push_str(&row.join("\t"));
            text.push('\n');
        }
        text
    }
}

/// The text with control characters escaped.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::Table;
    use crate::arguments::ColorChoice;
    use crate::output::colours::Colours;

    #[test]
    fn a_person_gets_columns_and_a_program_tabs() {
        let mut table = Table::new(&["ID", "COMMAND"]);
        table.row(["1".to_owned(), "a\tb\x1b[2J".to_owned()]);
        table.row(["1000".to_owned(), "ä 日本".to_owned()]);
        assert_eq!(table.tabbed(), "ID\tCOMMAND\n1\ta\\tb\\u{1b}[2J\n1000\tä 日本\n");
        let plain = Colours::choose(ColorChoice::Never, true);
        assert_eq!(table.aligned(plain), "ID    COMMAND\n1     a\\tb\\u{1b}[2J\n1000  ä 日本\n");
    }
}

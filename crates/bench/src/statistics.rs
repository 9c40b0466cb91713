//! What many measurements of one thing come to.

use serde::Serialize;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Better {
    Lower,
    Higher,
}

/// Measurements of one thing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples(Vec<f64>);

/// What they come to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// The middle one.
    pub(crate) median: f64,
    /// The one that 99 % are at least as good as.
    pub(crate) p99: f64,
    /// The best: what is left when nothing else disturbs.
    pub(crate) best: f64,
    /// How many.
    pub(crate) count: usize,
}

impl Samples {
    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The largest.
    pub(crate) fn largest(&self) -> Option<f64> {
        self.0.iter().copied().max_by(f64::total_cmp)
    }

    /// `None` of nothing.
    pub(crate) fn summary(&self, better: Better) -> Option<Summary> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        if better == Better::Higher {
            sorted.reverse();
        }
        // Nearest rank; of fewer than a hundred it is the worst.
        let rank = |percent: usize| (sorted.len() * percent).div_ceil(100).checked_sub(1).map(|index| sorted[index]);
        Some(Summary { median: rank(50)?, p99: rank(99)?, best: *sorted.first()?, count: sorted.len() })
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<Values: IntoIterator<Item = f64>>(values: Values) -> Self {
        Self(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::float_cmp)]

    use super::{Better, Samples};

    #[test]
    fn ranks_are_counted_from_the_better_side() {
        let samples: Samples = (1..=200).rev().map(f64::from).collect();
        let low = samples.summary(Better::Lower).unwrap();
        assert_eq!((low.best, low.median, low.p99, low.count), (1.0, 100.0, 198.0, 200));
        let high = samples.summary(Better::Higher).unwrap();
        assert_eq!((high.best, high.median, high.p99), (200.0, 101.0, 3.0));
    }

    #[test]
    fn few_samples_have_their_worst_as_p99() {
        let samples: Samples = [3.0, 1.0, 2.0].into_iter().collect();
        assert_eq!(samples.summary(Better::Lower).unwrap().p99, 3.0);
        assert!(Samples::default().summary(Better::Lower).is_none());
    }
}

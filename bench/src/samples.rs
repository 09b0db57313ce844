//! Times of one thing, and what is said about them: the median, and the quartiles as spread.

use std::time::Duration;

use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct Samples(Vec<f64>);

/// Seconds, or a ratio of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) count: usize,
    pub(crate) least: f64,
    pub(crate) first_quartile: f64,
    pub(crate) median: f64,
    pub(crate) third_quartile: f64,
}

impl Samples {
    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took.as_secs_f64());
    }

    /// A sample that is no duration.
    pub(crate) fn add_value(&mut self, value: f64) {
        self.0.push(value);
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// What 99 of a hundred are not above.
    pub(crate) fn p99(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        at(&sorted, 99, 100)
    }

    /// The samples of `self` over those of `other` that were taken in the same turn.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, two)| one / two).collect())
    }

    pub(crate) fn summary(&self) -> Summary {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Summary {
            count: sorted.len(),
            least: at(&sorted, 0, 4),
            first_quartile: at(&sorted, 1, 4),
            median: at(&sorted, 2, 4),
            third_quartile: at(&sorted, 3, 4),
        }
    }
}

/// The value `part / whole` of the way through, between its neighbours where it falls between two.
fn at(sorted: &[f64], part: usize, whole: usize) -> f64 {
    let steps = sorted.len().saturating_sub(1) * part;
    let (index, rest) = (steps / whole, steps % whole);
    let get = |index: usize| sorted.get(index).copied();
    let low = get(index).unwrap_or(f64::NAN);
    let high = get(index + 1).unwrap_or(low);
    #[expect(clippy::cast_precision_loss, reason = "parts of a hundred")]
    let weight = rest as f64 / whole as f64;
    low + (high - low) * weight
}

impl Summary {
    pub(crate) fn json(&self) -> Value {
        json!({
            "samples": self.count,
            "least_seconds": self.least,
            "first_quartile_seconds": self.first_quartile,
            "median_seconds": self.median,
            "third_quartile_seconds": self.third_quartile,
        })
    }

    /// Where the unit is said elsewhere.
    pub(crate) fn json_of_values(&self) -> Value {
        json!({
            "samples": self.count,
            "least": self.least,
            "first_quartile": self.first_quartile,
            "median": self.median,
            "third_quartile": self.third_quartile,
        })
    }
}

/// The mean of ratios: neither side gains by which one is on top.
pub(crate) fn geometric_mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = ratios.fold((0.0, 0.0), |(sum, count), ratio| (sum + ratio.ln(), count + 1.0));
    f64::exp(sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_their_neighbours() {
        let mut samples = Samples::default();
        for seconds in [4, 1, 3, 2] {
            samples.add(Duration::from_secs(seconds));
        }
        let expected = Summary { count: 4, least: 1.0, first_quartile: 1.75, median: 2.5, third_quartile: 3.25 };
        assert_eq!(samples.summary(), expected);
    }

    #[test]
    fn twice_and_half_mean_the_same() {
        let mean = geometric_mean([2.0, 0.5].into_iter());
        assert!((mean - 1.0).abs() < 1e-12);
    }
}

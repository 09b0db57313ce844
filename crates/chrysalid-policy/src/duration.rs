//! Times such as `90s` or `24h`: a whole number and a unit.

use std::time::Duration;

/// What a time of a rule has to be, for errors.
pub(crate) const EXPECTED: &str =
    "a time such as \"90s\": a whole number above 0 and ms, s, m, h or d, up to \"36500d\"";

pub(crate) const MAX: Duration = Duration::from_hours(36_500 * 24);
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

pub(crate) fn parse(text: &str) -> Option<Duration> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, millis) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let duration = Duration::from_millis(number.parse::<u64>().ok()?.checked_mul(*millis)?);
    (duration > Duration::ZERO && duration <= MAX).then_some(duration)
}

/// The text of a time of whole milliseconds, in its largest unit without a fraction.
pub(crate) fn show(duration: Duration) -> String {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let unit = UNITS.iter().find(|(_, unit)| millis.is_multiple_of(*unit));
    let (name, unit) = unit.copied().unwrap_or(("ms", 1));
    format!("{}{name}", millis / unit)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{parse, show};

    #[test]
    fn times_go_both_ways() {
        for (text, millis) in
            [("1ms", 1), ("90s", 90_000), ("5m", 300_000), ("25h", 90_000_000), ("36500d", 3_153_600_000_000)]
        {
            assert_eq!(parse(text), Some(Duration::from_millis(millis)));
            assert_eq!(show(Duration::from_millis(millis)), text);
        }
        assert_eq!(show(Duration::from_hours(48)), "2d");
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "1",
            "h",
            "0s",
            "-1s",
            "1.5h",
            "1 h",
            "1H",
            "1h30m",
            "1w",
            "36501d",
            "99999999999999999999s",
            "18446744073709551615d",
            "+1s",
            "١s",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

//! Date-times of TOML as milliseconds.

use toml::value::{Datetime, Offset};

/// Milliseconds since 1970 in UTC; none without a date, a time and an offset.
pub(crate) fn millis(moment: &Datetime) -> Option<f64> {
    let (date, time, offset) = (moment.date?, moment.time?, moment.offset?);
    let minutes_east = match offset {
        Offset::Z => 0,
        Offset::Custom { minutes } => i64::from(minutes),
    };
    let days = days_since_1970(i64::from(date.year), i64::from(date.month), i64::from(date.day));
    let minutes = days * 1440 + i64::from(time.hour) * 60 + i64::from(time.minute) - minutes_east;
    let whole = minutes * 60_000 + i64::from(time.second.unwrap_or(0)) * 1000;
    // Years of four digits: below 2^53 by far.
    #[expect(clippy::cast_precision_loss, reason = "a date of four digits is exact in milliseconds")]
    Some(whole as f64 + f64::from(time.nanosecond.unwrap_or(0)) / 1e6)
}

/// Days of the Gregorian calendar, counted in years that begin in March, so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days_of_months = (153 * month + 2) / 5;
    365 * year + leap_days + days_of_months + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::millis;

    #[test]
    fn date_times_are_counted_from_1970() {
        let millis = |text: &str| millis(&text.parse().unwrap());
        assert_eq!(millis("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(millis("2000-02-29T12:00:00Z"), Some(951_825_600_000.0));
        assert_eq!(millis("2026-11-30T01:02:03.25+01:30"), Some(1_795_995_123_250.0));
        assert_eq!(millis("1969-12-31T23:59:59Z"), Some(-1000.0));
        assert_eq!(millis("0000-03-01T00:00:00Z"), Some(-62_162_035_200_000.0));
        assert_eq!(millis("2026-11-30T01:02:03"), None);
        assert_eq!(millis("2026-11-30"), None);
    }
}

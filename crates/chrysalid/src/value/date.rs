//! The text of a date, as `Date.prototype.toISOString` gives it.

const DAY: i64 = 86_400_000;

/// `2026-01-02T03:04:05.006Z`; years outside 0 to 9999 have a sign and six digits. `None` for an invalid date: NaN,
/// or more than 8.64e15 ms (100 million days, ECMAScript's range) from 1970.
#[expect(clippy::cast_possible_truncation, reason = "bounded just before; a fraction of a millisecond is dropped")]
pub(super) fn iso_text(milliseconds: f64) -> Option<String> {
    if milliseconds.is_nan() || milliseconds.abs() > 8.64e15 {
        return None;
    }
    let milliseconds = milliseconds as i64;
    let (year, month, day) = civil(milliseconds.div_euclid(DAY));
    let time = milliseconds.rem_euclid(DAY);
    let (hour, minute, second, millisecond) = (time / 3_600_000, time / 60_000 % 60, time / 1000 % 60, time % 1000);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{year:+07}"),
    };
    Some(format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z"))
}

/// Year, month and day of the proleptic Gregorian calendar from days since 1970-01-01. Counts in eras of 400 years
/// (146097 days) that begin on the first of March, so that the leap day comes last.
fn civil(days: i64) -> (i64, i64, i64) {
    let from_march_of_0 = days + 719_468;
    let era = from_march_of_0.div_euclid(146_097);
    let day_of_era = from_march_of_0.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_as_in_javascript() {
        let cases = [
            (0.0, "1970-01-01T00:00:00.000Z"),
            (-1.0, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000.0, "2000-02-29T00:00:00.000Z"),
            (1_767_323_045_006.0, "2026-01-02T03:04:05.006Z"),
            (253_402_300_800_000.0, "+010000-01-01T00:00:00.000Z"),
            (-62_198_755_200_000.0, "-000001-01-01T00:00:00.000Z"),
            (8.64e15, "+275760-09-13T00:00:00.000Z"),
            (-8.64e15, "-271821-04-20T00:00:00.000Z"),
        ];
        for (milliseconds, expected) in cases {
            assert_eq!(iso_text(milliseconds).as_deref(), Some(expected));
        }
        assert_eq!(iso_text(f64::NAN), None);
        assert_eq!(iso_text(8.64e15 + 1.0), None);
    }
}

//! Durations and sizes as people write them: a number and its unit.

use std::time::Duration;

/// A duration with its unit: `500ms`, `30s`, `2m`, `1h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let milliseconds: u64 = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" => return Err(format!("{text:?} has no unit: write ms, s, m or h, as in \"30s\"")),
        _ => return Err(format!("{text:?} is not a duration: write a number and ms, s, m or h, as in \"30s\"")),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(milliseconds))
        .map(Duration::from_millis)
        .ok_or_else(|| format!("{text:?} is not a duration: write a whole number and ms, s, m or h, as in \"30s\""))
}

/// A size in bytes, or with its unit: `64MiB`, `512KiB`, `1GiB`, `100MB`.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text);
    let bytes: usize = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "KB" | "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err(format!("{text:?} is not a size: write bytes, or a number and KiB, MiB or GiB")),
    };
    number
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_mul(bytes))
        .ok_or_else(|| format!("{text:?} is not a size: write bytes, or a whole number and KiB, MiB or GiB"))
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end).unwrap_or((text, ""));
    (number, unit.trim())
}

#[cfg(test)]
mod tests {
    use super::{Duration, duration, size};

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("30 s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("2m"), Ok(Duration::from_mins(2)));
        assert_eq!(duration("30"), Err("\"30\" has no unit: write ms, s, m or h, as in \"30s\"".into()));
        for bad in ["", "s", "-1s", "1.5s", "1d", "99999999999999999999s", "é"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_may_have_units() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(size("64 MB"), Ok(64_000_000));
        for bad in ["", "MiB", "-1", "64megs", "99999999999999GiB"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}

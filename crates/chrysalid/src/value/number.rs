//! Numbers between JavaScript and Rust: which integers are exact, and how a number is written.

/// 2^53: up to here every integer has a number of its own.
const EXACT: i128 = 1 << 53;

/// An integer as a number, if it is within ±2^53.
#[expect(clippy::cast_precision_loss, reason = "within ±2^53 nothing is lost")]
pub(super) fn exact(integer: i128) -> Option<f64> {
    (-EXACT..=EXACT).contains(&integer).then_some(integer as f64)
}

/// A number without a fraction as an integer, if it is within ±2^126. -0 is 0.
#[expect(clippy::cast_possible_truncation, reason = "a finite number without a fraction, within the type")]
pub(super) fn integer(number: f64) -> Option<i128> {
    (number.fract() == 0.0 && number.abs() <= 2f64.powi(126)).then_some(number as i128)
}

/// As [`integer`], within ±2^53: those that other systems should see as integers.
pub(super) fn exact_integer(number: f64) -> Option<i64> {
    integer(number).filter(|integer| (-EXACT..=EXACT).contains(integer))?.try_into().ok()
}

/// An IEEE half-precision number.
pub(super) fn from_half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f64::from(bits & 1023) / 1024.0;
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

/// As ECMAScript's `Number::toString`, but -0 is `-0`.
pub(super) fn text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if number.is_infinite() {
        return format!("{sign}Infinity");
    }
    // Rust writes the shortest digits that read back the same, as ECMAScript does; only their layout differs.
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    format!("{sign}{}", lay_out(&digits, point))
}

/// `point` is how many of the digits stand before the decimal point; may be negative or beyond them.
fn lay_out(digits: &str, point: i32) -> String {
    let after_point = usize::try_from(-point).unwrap_or(0);
    let before_point = usize::try_from(point).unwrap_or(0);
    match point {
        1..=21 => match digits.split_at_checked(before_point) {
            Some((whole, "")) => whole.into(),
            Some((whole, fraction)) => format!("{whole}.{fraction}"),
            None => format!("{digits:0<before_point$}"),
        },
        -5..=0 => format!("0.{:0<after_point$}{digits}", ""),
        _ => {
            let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{first}{dot}{rest}e{:+}", point - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_as_in_javascript() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-12.5, "-12.5"),
            (100.0, "100"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e-6, "0.000001"),
            (1.5e-7, "1.5e-7"),
            (1e21, "1e+21"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (number, expected) in cases {
            assert_eq!(text(number), expected);
        }
    }

    #[test]
    fn exact_up_to_two_to_the_53() {
        assert_eq!(exact(EXACT), Some(9_007_199_254_740_992.0));
        assert_eq!(exact(EXACT + 1), None);
        assert_eq!(exact_integer(-9_007_199_254_740_992.0), Some(-9_007_199_254_740_992));
        for number in [9_007_199_254_740_994.0, 0.5, f64::NAN, f64::INFINITY] {
            assert_eq!(exact_integer(number), None);
        }
        assert_eq!(integer(2f64.powi(63)), Some(1 << 63));
    }

    #[test]
    fn half_precision() {
        let cases = [(0x0001, 5.960_464_477_539_063e-8), (0x7bff, 65504.0), (0x7c00, f64::INFINITY), (0x8000, -0.0)];
        for (bits, expected) in cases {
            assert_eq!(from_half(bits).to_bits(), f64::to_bits(expected));
        }
        assert!(from_half(0x7e00).is_nan());
    }
}

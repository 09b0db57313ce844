//! Whole numbers of any size. The number crate stays inside: it is no part of the public API.

use std::fmt;
use std::str::FromStr;

use num_bigint::Sign;

/// What a guest can hold: QuickJS bounds a `BigInt` at 2^20 bits. Without a bound the decimal text, which takes
/// quadratic time, would be a way to keep the host busy.
const MAX_BITS: u64 = 1 << 20;

/// The decimal digits of 2^[`MAX_BITS`], and a sign.
const MAX_DIGITS: usize = 315_654;

/// A JavaScript `BigInt`, at most 2^20 bits long when it crosses to or from a program.
// Boxed because it is rare: inline it would make every value a third larger.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BigInt(Box<num_bigint::BigInt>);

/// The text is not a decimal number of at most 315653 digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("text of {length} bytes is not a decimal integer of at most {} digits", MAX_DIGITS - 1)]
pub struct ParseBigIntError {
    length: usize,
}

/// The number does not fit the integer type asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bigint of {bits} bits does not fit {target}")]
pub struct BigIntRangeError {
    bits: u64,
    target: &'static str,
}

impl BigInt {
    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.0.sign() == Sign::Minus
    }

    /// The length of the magnitude in bits; 0 for zero.
    pub fn bits(&self) -> u64 {
        self.0.bits()
    }

    /// The number, or the nearest that 128 bits hold.
    pub(crate) fn saturated(&self) -> i128 {
        i128::try_from(&*self.0).unwrap_or(if self.is_negative() { i128::MIN } else { i128::MAX })
    }

    pub(super) fn is_within_bound(&self) -> bool {
        self.bits() <= MAX_BITS
    }

    /// The magnitude in lower-case hexadecimal without leading zeros.
    pub fn magnitude_hex(&self) -> String {
        format!("{:x}", self.0.magnitude())
    }

    /// The reverse of [`is_negative`](Self::is_negative) and [`magnitude_hex`](Self::magnitude_hex); `None` unless
    /// the text is just what they give.
    pub fn from_hex(negative: bool, hex: &[u8]) -> Option<Self> {
        let canonical = hex.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        let zero = hex == b"0";
        let leading_zero = hex.first().is_none_or(|digit| *digit == b'0');
        if !canonical || (leading_zero && !zero) || (zero && negative) {
            return None;
        }
        let sign = if negative { Sign::Minus } else { Sign::Plus };
        let magnitude = num_bigint::BigUint::parse_bytes(hex, 16)?;
        Some(Self(Box::new(num_bigint::BigInt::from_biguint(sign, magnitude))))
    }
}

/// Decimal.
impl fmt::Display for BigInt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl fmt::Debug for BigInt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BigInt({})", self.0)
    }
}

impl FromStr for BigInt {
    type Err = ParseBigIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || ParseBigIntError { length: text.len() };
        let digits = text.strip_prefix('-').unwrap_or(text);
        if text.len() > MAX_DIGITS || digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(malformed());
        }
        text.parse().map(|number| Self(Box::new(number))).map_err(|_| malformed())
    }
}

macro_rules! convert {
    ($($integer:ident)*) => {$(
        impl From<$integer> for BigInt {
            fn from(number: $integer) -> Self {
                Self(Box::new(number.into()))
            }
        }

        impl TryFrom<&BigInt> for $integer {
            type Error = BigIntRangeError;

            fn try_from(number: &BigInt) -> Result<Self, Self::Error> {
                let range = |_| BigIntRangeError { bits: number.bits(), target: stringify!($integer) };
                number.0.as_ref().try_into().map_err(range)
            }
        }
    )*};
}

convert!(i32 u32 i64 u64 i128 u128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_hex_go_both_ways() {
        for text in ["0", "1", "-1", "255", "-18446744073709551616", "123456789012345678901234567890"] {
            let number: BigInt = text.parse().unwrap();
            assert_eq!(number.to_string(), text);
            let hex = number.magnitude_hex();
            assert_eq!(BigInt::from_hex(number.is_negative(), hex.as_bytes()), Some(number));
        }
    }

    #[test]
    fn hex_is_taken_in_one_spelling_only() {
        for hex in ["", "00", "01", "FF", "+1", "-1", "1_0", " 1", "g"] {
            assert_eq!(BigInt::from_hex(false, hex.as_bytes()), None, "{hex:?}");
        }
        assert_eq!(BigInt::from_hex(true, b"0"), None);
    }

    #[test]
    fn text_must_be_decimal_and_bounded() {
        for text in ["", "-", "+1", "0x10", "1_000", "1.0", "--1"] {
            assert!(text.parse::<BigInt>().is_err(), "{text:?}");
        }
        let error = "9".repeat(MAX_DIGITS + 1).parse::<BigInt>().unwrap_err();
        assert_eq!(error.to_string(), "text of 315655 bytes is not a decimal integer of at most 315653 digits");
    }

    #[test]
    fn integers_come_back_only_where_they_fit() {
        let number = BigInt::from(u64::MAX);
        assert_eq!(u64::try_from(&number), Ok(u64::MAX));
        assert_eq!(i64::try_from(&number).unwrap_err().to_string(), "bigint of 64 bits does not fit i64");
        assert_eq!(i128::try_from(&BigInt::from(i128::MIN)), Ok(i128::MIN));
        assert!(u128::try_from(&BigInt::from(-1)).is_err());
    }
}

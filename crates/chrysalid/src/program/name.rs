//! Characters of names.

/// Whether a name of JavaScript can go on with this character. Letters and digits of every script count.
pub(super) fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

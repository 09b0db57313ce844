//! Sizes and depths of what crosses.

use chrysalid::defence::Defence;

use super::Attempt::Limited;
use super::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        Defence::ArgumentSize,
        "a_text_too_large_for_an_argument",
        &["try { (await tools.echo({ v: 'x'.repeat(1.5e6) })).length } catch (e) { e.name }"],
        "'ArgumentTooLarge'",
        "1500000",
    ),
    attack(
        Defence::ArgumentSize,
        "a_buffer_too_large_for_an_argument",
        &["try { (await tools.echo({ v: new Uint8Array(1.5e6) })).length } catch (e) { e.name }"],
        "'ArgumentTooLarge'",
        "1500000",
    ),
    attack(
        Defence::ValueDepth,
        "an_argument_deeper_than_any_reader_expects",
        &[
            "let v = 1; for (let i = 0; i < 600; i++) v = [v]; try { let r = await tools.echo({ v }), n = 0; while (r.length) { r = r[0]; n++ } n } catch (e) { e.name }",
        ],
        "'ArgumentTooLarge'",
        "600",
    ),
    Attack {
        name: "an_argument_of_many_small_values",
        defence: Defence::ValueNodes,
        attempt: Limited(
            |limits| limits.value_nodes = 1000,
            &["try { (await tools.echo({ v: new Array(5000).fill(0) })).length } catch (e) { e.name }"],
        ),
        held: "'ArgumentTooLarge'",
        through: "5000",
    },
    Attack {
        name: "an_argument_of_many_holes",
        defence: Defence::ValueNodes,
        attempt: Limited(
            |limits| limits.value_nodes = 1000,
            &["try { (await tools.echo({ v: new Array(5000) })).length } catch (e) { e.name }"],
        ),
        held: "'ArgumentTooLarge'",
        through: "5000",
    },
    attack(
        Defence::CallResultSize,
        "a_tool_answers_with_too_much",
        &["try { (await tools.big({ n: 5e6 })).length } catch (e) { e.name }"],
        "'ResultTooLarge'",
        "5000000",
    ),
    attack(
        Defence::ResultSize,
        "a_value_too_large_for_a_result",
        &["'x'.repeat(2e6)"],
        "ResultTooLarge Intact",
        "a text of 2000000",
    ),
    attack(
        Defence::ResultSize,
        "a_list_too_large_for_a_result",
        &["new Array(900000).fill('')"],
        "ResultTooLarge Intact",
        "a list of 900000",
    ),
    attack(Defence::SourceSize, "a_program_too_large_to_read", &[LONG], "SourceTooLarge", "1"),
];

/// 300,000 spaces, and a value.
const LONG: &str = {
    static TEXT: [u8; 300_001] = {
        let mut text = [b' '; 300_001];
        text[300_000] = b'1';
        text
    };
    match std::str::from_utf8(&TEXT) {
        Ok(text) => text,
        Err(_) => panic!(),
    }
};

use super::super::tests::{becomes, becomes_with, is_not_javascript, is_refused};
use super::*;

#[test]
fn fences_in_programs_r07() {
    is_not_javascript(
        "Here is the code:\n```js\n1+1\n```",
        "there is text around the code fence; send only the JavaScript",
    );
    is_not_javascript("```js\n1\n```\nthen text", "there is text after the code fence; send only the JavaScript");
    is_not_javascript("```python\nx\n```", "the code fence is marked `python`; this tool runs JavaScript");
    becomes_with("const md = `\n```\nhi\n```\n`; md", "const md = `\n```\nhi\n```\n`; md", &[], &[], Some("md"));
    becomes_with(
        "```javascript\nconst t = 2;\nt * 3\n```",
        "             \nconst t = 2;\nt * 3\n   ",
        &["code fence removed"],
        &[],
        None,
    );
    becomes_with(
        "\n```ts\nlet a: number = 1; a\n```\n",
        "\n     \nlet a         = 1; a\n   \n",
        &["code fence removed"],
        &[],
        Some("a"),
    );
    becomes("// ```\n1", "// ```\n1");
    becomes_with("```js\n{ a: 1 }\n```", "     \n({ a: 1 })\n   ", &["code fence removed"], &[], None);
    is_refused("```js\n1 +\n```", "unexpected end of the program", None, (3, 4));
}

fn removed(text: &str) -> Fence {
    Fence::Removed(text.to_owned())
}

fn refused(message: &str) -> Fence {
    Fence::Refused(message.to_owned())
}

#[test]
fn a_fence_around_the_whole_comes_off() {
    assert_eq!(remove("```\n1\n```"), removed("   \n1\n   "));
    assert_eq!(remove("\n  ```JavaScript \n1\n```  \n\n"), removed("\n                \n1\n     \n\n"));
    assert_eq!(remove("~~~ts\r\n1\r\n~~~\r\n"), removed("     \r\n1\r\n   \r\n"));
    assert_eq!(remove("````js\n`\n```\n`\n````"), removed("      \n`\n```\n`\n    "));
    for language in ["js", "jsx", "mjs", "javascript", "ts", "tsx", "TypeScript"] {
        assert!(matches!(remove(&format!("```{language}\n1\n```")), Fence::Removed(_)), "{language}");
    }
}

#[test]
fn a_fence_line_inside_belongs_to_the_program() {
    assert_eq!(remove("```js\nconst a = `\n```\n`;\n```"), removed("     \nconst a = `\n```\n`;\n   "));
}

#[test]
fn an_open_fence_ends_with_the_text() {
    assert_eq!(remove("```js\n1"), removed("     \n1"));
}

#[test]
fn what_is_not_one_program_is_refused() {
    let after = "there is text after the code fence; send only the JavaScript";
    assert_eq!(remove("```js\n1\n```\nDone."), refused(after));
    let several = "there is more than one code fence; send one program";
    assert_eq!(remove("```js\n1\n```\n```js\n2\n```\nDone."), refused(several));
    let python = "the code fence is marked `python`; this tool runs JavaScript";
    assert_eq!(remove("```python\n1\n```"), refused(python));
}

#[test]
fn other_text_has_none() {
    for text in ["", "1", "const a = `\n```\n`", "``\n1\n``", "// ```\n1"] {
        assert_eq!(remove(text), Fence::None, "{text}");
    }
}

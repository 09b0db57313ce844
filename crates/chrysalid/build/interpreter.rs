//! Makes two functions of QuickJS's interpreter, which is one: `guest/often.h` says why and what is in which. And puts `guest/search.h`
//! into its matcher of regular expressions.
//!
//! Nothing of QuickJS's text is in here or in the headers but what shows where to put them, and each such mark has to be in
//! the text as often as it was in the pinned version: with another one, the build says which is not. Lines keep their
//! numbers, since the profile goes by them.

use super::{Error, Result};

/// The interpreter's function begins and ends with these. In it, `BREAK` has to be directly in the one `switch`.
const BEGINNING: &str = "static JSValue JS_CallInternal(JSContext *caller_ctx, JSValueConst func_obj,\n";
const END: &str = "\n}\n";

/// The matcher of regular expressions begins with this.
const MATCHER: &str = "static intptr_t lre_exec_backtrack(REExecContext *s, uint8_t **capture,\n";

/// What the second function has in place of three arguments of the first.
const STATE: &str = "struct interpreter_state *state";
/// In front of the names of instructions that begin a sequence, in `guest/often.h`.
const FUSED: &str = "#define FUSED_OP_";

/// `quickjs` is the text of `quickjs.c`, `often` that of `often.h`.
pub(crate) fn in_two(quickjs: &str, often: &str) -> Result<String> {
    once(quickjs, BEGINNING)?;
    let (before, rest) = quickjs.split_once(BEGINNING).unwrap_or_default();
    let (function, after) = rest.split_once(END).ok_or_else(|| not_there(END, 0))?;
    let function = Text(format!("{BEGINNING}{function}{END}"));
    let line = 1 + before.matches('\n').count();
    let line_after = line + function.0.matches('\n').count();

    let macros = function.between("#if !DIRECT_DISPATCH\n", "#define BREAK           SWITCH(pc)\n#endif\n")?;
    let function = function.put(&macros, "INTERPRETER_LOCALS")?;
    let first = first(function.clone(), often)?.0;
    let second = second(function)?.0;
    // The last number says that warnings are not wanted.
    let at = |line| format!("# {line} \"quickjs.c\" 3\n");
    let (start, end) = (at(line), at(line_after));
    Ok(format!("{before}#include \"often.h\"\n{start}{first}#include \"rarely.h\"\n{start}{second}{end}{after}"))
}

/// `libregexp` is the text of `libregexp.c`, into which `guest/search.h` goes.
pub(crate) fn with_search(libregexp: &str) -> Result<String> {
    once(libregexp, MATCHER)?;
    let (before, matcher) = libregexp.split_once(MATCHER).unwrap_or_default();
    let line = 1 + before.matches('\n').count();
    let split = "        case REOP_split_goto_first:\n        case REOP_split_next_first:\n            {\n";
    let character = "        case REOP_char:\n        case REOP_char_i:\n            val = get_u16(pc);\n";
    let matcher = Text(format!("{MATCHER}{matcher}"))
        .put(split, &split.replacen(":\n", ": SEARCH\n", 1))?
        .put(character, &character.replacen(":\n", ": CHARACTERS\n", 1))?
        .0;
    Ok(format!("{before}#include \"search.h\"\n# {line} \"libregexp.c\" 3\n{matcher}"))
}

fn first(mut function: Text, often: &str) -> Result<Text> {
    for fused in often.lines().filter_map(|line| line.strip_prefix(FUSED)) {
        let name: String = fused.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let case = format!("CASE(OP_{name}):");
        function = function.put(&case, &format!("{case} FUSED_OP_{name} "))?;
    }
    function
        .put("            CASE(opcode):  ", "            CASE(opcode): FUSED_CMP(binary_op) ")?
        .put("        DEFAULT:\n", "        OTHERWISE DEFAULT:\n")?
        .put(
            "            if (s->throw_flag)\n                goto exception;\n",
            "            if (s->throw_flag) { THROWN }\n",
        )?
        .put("\n exception:\n", "\n exception: THROWN\n")
}

fn second(function: Text) -> Result<Text> {
    let prologue = function.between("    if (js_poll_interrupts(caller_ctx))\n", "\n restart:\n")?;
    function
        .put(
            BEGINNING,
            &format!("static no_inline JSValue run_rarely(JSContext *caller_ctx, {STATE}, JSValueConst func_obj,\n"),
        )?
        .put(
            ", JSValueConst new_target,\n                               int argc, JSValueConst *argv, int flags)\n",
            ", JSValueConst new_target)\n",
        )?
        .put(&prologue, "    GO_ON\n restart:\n")?
        .put("\n exception:\n", "\n GO_BACK exception:\n")?
        .put("                    goto restart;\n", "                    goto back;\n")?
        .put("    return ret_val;\n}\n", "    state->ended = true; return ret_val;\n}\n")
}

#[derive(Clone)]
struct Text(String);

impl Text {
    /// Puts `new` where `old` is, with as many lines.
    fn put(self, old: &str, new: &str) -> Result<Self> {
        once(&self.0, old)?;
        let lines = |text: &str| text.matches('\n').count();
        let missing = lines(old).saturating_sub(lines(new));
        Ok(Self(self.0.replacen(old, &format!("{new}{}", "\n".repeat(missing)), 1)))
    }

    /// From the one to the other, both included.
    fn between(&self, from: &str, to: &str) -> Result<String> {
        once(&self.0, from)?;
        let (_, rest) = self.0.split_once(from).unwrap_or_default();
        let (inside, _) = rest.split_once(to).ok_or_else(|| not_there(to, 0))?;
        Ok(format!("{from}{inside}{to}"))
    }
}

fn once(text: &str, mark: &str) -> Result<()> {
    match text.matches(mark).count() {
        1 => Ok(()),
        count => Err(not_there(mark, count)),
    }
}

fn not_there(mark: &str, count: usize) -> Error {
    Error::new(format!(
        "QuickJS is another than this build knows: {mark:?} is there {count} times, not once; see guest/often.h and search.h"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_leaves_lines_their_numbers() {
        let text = Text("one\ntwo\nthree\nfour\n".to_owned());
        let put = text.clone().put("two\nthree\n", "2 and 3\n").unwrap();
        assert_eq!(put.0, "one\n2 and 3\n\nfour\n");
        assert_eq!(text.between("two\n", "four").unwrap(), "two\nthree\nfour");
    }

    #[test]
    fn a_mark_that_is_not_there_once_is_named() {
        let told = |text: &str| Text(text.to_owned()).put("mark", "").err().unwrap().to_string();
        assert!(told("no").contains("\"mark\" is there 0 times, not once"), "{}", told("no"));
        assert!(told("mark mark").contains("\"mark\" is there 2 times"));
        assert!(in_two("int main;\n", "").is_err());
        assert!(with_search("int main;\n").is_err());
    }
}

use super::*;

fn on_line(text: &str, line: u32) -> Option<Language> {
    guess(text, Place { line, column: 1 })
}

#[test]
fn shell_commands_are_known() {
    for text in [
        "cd x && npm install",
        "cat file | grep y",
        "$ ls",
        "curl https://a.test/b",
        "npm i x",
        "git status",
        "echo hi",
        "# list\nls -la",
        "#!/bin/bash\ncd /tmp",
        "export A=1",
        "./run.sh --fast",
        "rm -rf build",
        "pip install x",
        "grep -n \"a b\" file",
        "ls *.txt",
        "echo $HOME",
    ] {
        assert_eq!(on_line(text, 1), Some(Language::Shell), "{text}");
    }
}

#[test]
fn commands_that_are_expressions_are_known() {
    for text in ["ls -la /workspace", "cat /etc/passwd", "ls -la", "rm -rf dist", "cd /workspace/src"] {
        assert_eq!(plain_command(text), text.split(' ').next(), "{text}");
    }
    for text in
        ["ls", "a - b", "ls - la", "find(x)", "sort - n", "sort / 2", "echo", "x -y", "ls -la; 1", "head -n\ntail"]
    {
        assert_eq!(plain_command(text), None, "{text}");
    }
}

#[test]
fn python_is_known() {
    for text in [
        "def f(x):",
        "def f(x): return x",
        "import x as y",
        "import os",
        "from a import b",
        "print \"x\"",
        "elif x:",
        "for x in y:",
        "x = f\"{y}\"",
        "f = lambda x: x",
        "if x:",
        "else:",
        "try:",
        "class A:",
        "async def f():",
        "while True:",
        "y = [x for x in z]",
        "a = b if c else d",
        "if x is None: pass",
        "with open(p) as f:",
        "raise ValueError",
    ] {
        assert_eq!(on_line(text, 1), Some(Language::Python), "{text}");
    }
    assert_eq!(on_line("x = [1]\nfor i in x:\n    y(i)", 2), Some(Language::Python));
    assert_eq!(on_line("# sum\ndef f(x):\n    return x", 1), Some(Language::Python));
}

#[test]
fn broken_javascript_is_no_other_language() {
    for text in [
        "const q = [1, 2",
        "if (x {",
        "for (const x of y {",
        "let x = ;",
        "import { a from \"b\"",
        "import a fro \"b\"",
        "class A {",
        "else {",
        "const a = b ? c",
        "x => {",
        "echo(\"hi\"",
        "git.status(",
        "sort(a, b",
        "find = x y",
        "case 1:",
        "default:",
        "while (x {",
        "const s = `for x in y:",
        "return x y",
        "node.a b",
        "export const = 1",
        "print(\"a\"",
        "try {",
        "const python = {",
    ] {
        assert_eq!(on_line(text, 1), None, "{text}");
    }
}

#[test]
fn text_far_from_the_error_says_nothing() {
    assert_eq!(on_line("const a = 1\nlet b = ;\n\n\nconst c = `\ndef f(x):\n`", 2), None);
}

//! `--modules`: what a program may import, and what it may not.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::sandbox::{Ran, Sandbox, TOOLS, until};

const STATS: &str =
    "import { sum } from './sum.js';\nexport const mean = (all) => sum(all) / all.length;\nexport default 'stats';";

/// With a folder `lib` beside the program.
fn library() -> Sandbox {
    let sandbox = Sandbox::with(TOOLS, "");
    std::fs::create_dir_all(sandbox.path("lib/stats")).unwrap();
    sandbox.write("lib/stats/index.js", STATS);
    sandbox.write("lib/stats/sum.js", "export const sum = (all) => all.reduce((a, b) => a + b, 0);");
    sandbox.write("lib/rows.ts", "export interface Row { n: number }\nexport const n = (row: Row): number => row.n;");
    sandbox.write("lib/late.mjs", "export const late = await Promise.resolve('late');");
    sandbox.write("outside.js", "export const secret = 1;");
    sandbox
}

fn run(sandbox: &Sandbox, source: &str) -> Ran {
    sandbox.write("p.js", source);
    sandbox.run("run p.js --modules lib")
}

#[test]
fn files_of_the_folder_are_imported() {
    let sandbox = library();
    for (source, value) in [
        ("import name, { mean } from 'stats'; [name, mean([1, 2, 6])]", "[ 'stats', 3 ]\n"),
        ("import * as stats from './stats'; Object.keys(stats).join()", "'default,mean'\n"),
        ("(await import('./stats/sum')).sum([1, 2])", "3\n"),
        ("import { n } from 'rows'; n({ n: 4 })", "4\n"),
        ("import { n } from './rows.ts'; n({ n: 4 })", "4\n"),
        ("import { late } from 'late'; late", "'late'\n"),
        // Whoever imports the folder and the file has one module.
        ("import * as a from 'stats'; import * as b from 'stats/index.js'; a.mean === b.mean", "true\n"),
        ("const [a, b] = await Promise.all([import('rows'), import('rows')]); a === b", "true\n"),
    ] {
        assert_eq!(run(&sandbox, source).parts(), (Some(0), value, ""), "{source}");
    }
}

#[test]
fn what_is_outside_is_as_if_it_were_not_there() {
    let sandbox = library();
    symlink("../outside.js", sandbox.path("lib/out.js")).unwrap();
    symlink(sandbox.path("outside.js"), sandbox.path("lib/absolute.js")).unwrap();
    symlink("..", sandbox.path("lib/up")).unwrap();
    sandbox.write("lib/.hidden.js", "export default 1");
    let absolute = sandbox.path("outside.js").to_str().unwrap().to_owned();
    let list = "late.mjs, rows.ts, stats/index.js, stats/sum.js";
    for key in [
        "gone",
        "out.js",
        "absolute.js",
        "up/outside.js",
        ".hidden.js",
        "stats/../../outside.js",
        &absolute,
        "/dev/zero",
    ] {
        let told = format!("ImportError: module \"{key}\" is not available; these are: {list}\n");
        assert_eq!(run(&sandbox, &format!("import '{key}'")).parts(), (Some(1), "", told.as_str()), "{key}");
        let caught =
            format!("try {{ await import('{key}') }} catch (error) {{ `${{error.name}}: ${{error.message}}` }}");
        let value = format!("'{}'\n", told.trim_end());
        assert_eq!(run(&sandbox, &caught).parts(), (Some(0), value.as_str(), ""), "{key}");
    }
    let told = format!("ImportError: module \"../outside.js\" is not available; these are: {list}\n");
    for key in ["../outside.js", "./stats/../../outside.js"] {
        assert_eq!(run(&sandbox, &format!("import '{key}'")).parts(), (Some(1), "", told.as_str()), "{key}");
    }
}

#[test]
fn links_within_the_folder_are_followed() {
    let sandbox = library();
    symlink("stats/sum.js", sandbox.path("lib/link.js")).unwrap();
    symlink("stats", sandbox.path("lib/way")).unwrap();
    let source = "import { sum } from 'link'; import { mean } from 'way'; [sum([1, 2]), mean([4])]";
    assert_eq!(run(&sandbox, source).parts(), (Some(0), "[ 3, 4 ]\n", ""));
}

#[test]
fn what_is_no_text_of_a_regular_file_is_no_module() {
    let sandbox = library();
    sandbox.pipe("lib/pipe.js");
    sandbox.write("lib/big.js", " ".repeat(262_145));
    sandbox.write("lib/latin.js", b"'\xe4'");
    let list = "big.js, late.mjs, latin.js, rows.ts, stats/index.js, stats/sum.js";
    for (key, message) in [
        ("pipe.js", format!("ImportError: module \"pipe.js\" is not available; these are: {list}")),
        (
            "big.js",
            "ToolError: module \"big.js\": source of 262145 bytes is more than the limit of 262144 bytes".into(),
        ),
        ("latin", "ToolError: module \"latin\": not UTF-8 text".into()),
    ] {
        let ran = run(&sandbox, &format!("import '{key}'"));
        assert_eq!(ran.parts(), (Some(1), "", format!("{message}\n").as_str()));
    }
}

#[test]
fn without_the_option_and_with_a_wrong_one() {
    let sandbox = library();
    sandbox.write("p.js", "import 'stats'");
    let none = "ImportError: module \"stats\" is not available: there are no modules here; call tools.<name>({...})\n";
    assert_eq!(sandbox.run("run p.js").parts(), (Some(1), "", none));
    for command in ["run p.js", "resume p.chry", "repl", "tools --tools tools.toml"] {
        let gone = "error: cannot read gone: No such file or directory (os error 2)\n";
        assert_eq!(sandbox.run(&format!("{command} --modules gone")).parts(), (Some(2), "", gone), "{command}");
        let file = "error: cannot read p.js: Not a directory (os error 20)\n";
        assert_eq!(sandbox.run(&format!("{command} --modules p.js")).parts(), (Some(2), "", file), "{command}");
    }
}

#[test]
fn what_was_loaded_before_a_pause_stays_as_it_was() {
    let sandbox = library();
    sandbox.write("lib/count.js", "export const version = 'old'; export let n = 0; export const add = () => ++n;");
    let source = "import { add } from 'count'; add(); await tools.pay({ amount: 5 }); add();\n\
                  const again = await import('./count'); const other = await import('rows');\n\
                  ({ version: again.version, n: again.n, other: other.version })";
    sandbox.write("p.js", source);
    let ran = sandbox.run("run p.js --tools tools.toml --modules lib --save p.chry");
    assert_eq!(ran.exit, Some(3), "{ran:?}");
    sandbox.write("lib/count.js", "export const version = 'new';");
    sandbox.write("lib/rows.ts", "export const version: string = 'new';");
    let ran = sandbox.resume("--approve 1.2 --modules lib --json");
    assert_eq!(ran.json()["value"], json!({ "version": "old", "n": 2, "other": "new" }), "{ran:?}");
}

#[test]
fn what_a_crash_leaves_tells_of_tools_and_not_of_imports() {
    let sandbox = library();
    let stuck = "[tools.stuck]\ncommand = [\"sh\", \"-c\", \"touch stuck; sleep 1000\"]\n";
    sandbox.write("tools.toml", format!("{TOOLS}{stuck}"));
    sandbox.write("p.js", "await tools.pay({ amount: 1 }); await import('rows'); await tools.stuck({})");
    sandbox.save();
    let mut child = sandbox.begin_resume("--approve 1.1 --modules lib");
    until("the call runs", || sandbox.path("stuck").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let calls = json!([
        { "call": "1.1", "name": "pay", "status": "completed", "ms": null },
        { "call": "1.3", "name": "stuck", "status": "unknown", "ms": null },
    ]);
    assert_eq!(sandbox.inspect("p.chry")["claims"][0]["calls"], calls);
}

#[test]
fn the_example_of_the_readme_runs() {
    let readme = include_str!("../../../README.md");
    let (_, example) = readme.split_once("$ cat lib/stats.ts\n").unwrap();
    let (module, rest) = example.split_once("\n$ cat mean.js\n").unwrap();
    let (program, rest) = rest.split_once("\n$ chrysalid run mean.js --modules lib\n").unwrap();
    let (value, _) = rest.split_once("```").unwrap();
    let sandbox = library();
    sandbox.write("lib/stats.ts", module);
    sandbox.write("mean.js", program);
    assert_eq!(sandbox.run("run mean.js --modules lib").parts(), (Some(0), value, ""));
}

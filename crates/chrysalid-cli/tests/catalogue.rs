//! `chrysalid tools`: what a model is told.

use serde_json::json;

use crate::sandbox::Sandbox;

const TOOLS: &str = r#"
[tools.look]
command = ["no-such-program"]

[tools.mail-send]
description = "Sends a mail."
command = ["no-such-program"]
input = { type = "object", required = ["to"], properties = { to = { type = "string" } } }
output = { type = "object", required = ["id"], properties = { id = { type = "integer" } } }
"#;

#[test]
fn the_text_is_what_a_model_is_told() {
    let sandbox = Sandbox::with(TOOLS, "");
    let ran = sandbox.run("tools --tools tools.toml");
    let declared = "\n\ndeclare const tools: {\n  look(input?: unknown): Promise<unknown>;\n  \
                    /**\n   * Sends a mail.\n   * Its name is \"mail-send\".\n   */\n  \
                    mailSend(input: { to: string }): Promise<{ id: number }>;\n};\n";
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.starts_with("`eval` runs one JavaScript or TypeScript program in a sandbox.\n\n- "), "{ran:?}");
    assert!(ran.stdout.contains("no `import`") && ran.stdout.ends_with(declared), "{}", ran.stdout);
    sandbox.write("stats.js", "");
    let ran = sandbox.run("tools --tools tools.toml --modules .");
    assert!(ran.stdout.contains("`import` finds only \"p.js\", \"stats.js\".\n"), "{}", ran.stdout);
}

#[test]
fn over_the_budget_there_is_a_list() {
    let ran = Sandbox::with(TOOLS, "").run("tools --tools tools.toml --budget 20");
    assert!(ran.stdout.ends_with("\n\ntools.look\ntools.mailSend — Sends a mail.\n"), "{}", ran.stdout);
}

#[test]
fn the_document_has_the_schemas() {
    let sandbox = Sandbox::with(TOOLS, "");
    let mut document = sandbox.run("tools --tools tools.toml --json").json();
    let text = sandbox.run("tools --tools tools.toml").stdout;
    assert_eq!(document["description"].take(), text);
    let tools = json!([
        { "name": "look", "alias": null, "description": "", "input": null, "output": null },
        {
            "name": "mail-send", "alias": "mailSend", "description": "Sends a mail.",
            "input": { "type": "object", "required": ["to"], "properties": { "to": { "type": "string" } } },
            "output": { "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" } } },
        },
    ]);
    assert_eq!(document, json!({ "description": null, "tools": tools }));
}

#[test]
fn what_is_wrong_is_told_as_everywhere() {
    let sandbox = Sandbox::with("[tools.a]\ncommand = []", "");
    let message = "tools.toml:2: command names no program: write [\"program\", \"argument\", …]";
    assert_eq!(sandbox.run("tools --tools tools.toml").parts(), (Some(2), "", format!("error: {message}\n").as_str()));
    let document = sandbox.run("tools --tools tools.toml --json").json();
    assert_eq!((&document["status"], &document["error"]["message"]), (&json!("refused"), &json!(message)));
    assert!(sandbox.run("tools").stderr.starts_with("error: the following required arguments were not provided"));
}

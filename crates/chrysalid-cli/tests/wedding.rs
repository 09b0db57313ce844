//! `examples/wedding`, run as its README says.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::sandbox::{Sandbox, finish};

fn example(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../examples/wedding", name].iter().collect();
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn lines(sandbox: &Sandbox, name: &str) -> Vec<Json> {
    sandbox.lines(name).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The folder of the example's tools is this sandbox.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let state = sandbox.path("state").to_str().unwrap().to_owned();
    sandbox.set("WEDDING_STATE", &state)
}

fn run(program: &str, options: &str) -> String {
    format!("run {} --tools {} {options}", example(program), example("tools.toml"))
}

/// Tools that were called, sorted.
fn called(sandbox: &Sandbox) -> Vec<String> {
    let calls = lines(sandbox, "state/calls.jsonl");
    let mut calls: Vec<String> = calls
        .iter()
        .map(|call| format!("{} {}", call["call"].as_str().unwrap(), call["tool"].as_str().unwrap()))
        .collect();
    calls.sort();
    calls
}

fn recipients(sandbox: &Sandbox) -> Vec<String> {
    let mut all: Vec<String> =
        lines(sandbox, "state/outbox.jsonl").iter().map(|mail| mail["to"].as_str().unwrap().to_owned()).collect();
    all.sort();
    all
}

const MET: [&str; 2] = [
    "rsvps.list (call 1.1, line 4) brought untrusted content",
    "contracts.list (call 1.2, line 5) brought private data",
];

fn planned(sent: &Json, not_sent: &Json) -> Json {
    json!({
        "headcount": 12,
        "total": 3960,
        "vendors": [
            { "vendor": "catering", "cost": 1140, "over": 140 },
            { "vendor": "flowers", "cost": 640, "over": 0 },
            { "vendor": "hall", "cost": 1080, "over": 0 },
            { "vendor": "music", "cost": 1100, "over": 300 },
        ],
        "sent": sent,
        "not_sent": not_sent,
    })
}

#[test]
fn a_plan_pauses_for_its_mails_because_of_the_rule_of_two_and_goes_on() {
    let sandbox = sandbox();
    let tools = example("tools.toml");
    let paused = sandbox.run(&run("plan.js", "--save wedding.chry --json"));
    assert_eq!((paused.exit, paused.stderr.as_str()), (Some(3), ""));
    let report = paused.json();
    assert_eq!(report["logs"], json!([{ "level": "log", "text": "12 guests are coming" }]));
    let pending: Vec<_> = report["pending"].as_array().unwrap().iter().collect();
    let expected = [("1.4", "kitchen@garden.example"), ("1.5", "book@quartet.example")];
    assert_eq!(pending.len(), 2);
    for (call, (id, to)) in pending.iter().zip(expected) {
        assert_eq!((call["call"].as_str(), call["args"]["to"].as_str()), (Some(id), Some(to)));
        assert_eq!((&call["line"], &call["effects"]), (&json!(23), &json!(["acts"])));
        assert_eq!(call["reasons"], json!([format!("rule of two: {}", MET.join("; "))]));
    }
    assert_eq!(called(&sandbox), ["1.1 rsvps.list", "1.2 contracts.list", "1.3 budget.read"]);

    let mut resume = sandbox.command(&format!("resume wedding.chry --tools {tools} --approve 1.4 --reject 1.5 --json"));
    resume.args(["--reason", "we keep the quartet as it is"]);
    let done = finish(&mut resume);
    assert_eq!(done.exit, Some(0), "{done:?}");
    let why = json!([{ "to": "book@quartet.example", "why": "mail.send was rejected: we keep the quartet as it is" }]);
    assert_eq!(done.json()["value"], planned(&json!(["kitchen@garden.example"]), &why));
    let outbox = lines(&sandbox, "state/outbox.jsonl");
    assert_eq!(outbox.len(), 1);
    assert_eq!(outbox[0]["text"], "We will be 12. At 1140 euros, catering is 140 over what we planned. Can you help?");
    assert_eq!(called(&sandbox), ["1.1 rsvps.list", "1.2 contracts.list", "1.3 budget.read", "1.4 mail.send"]);
    let again = sandbox.run(&format!("resume wedding.chry --tools {tools} --approve 1.4"));
    assert_eq!(again.exit, Some(6));
    assert_eq!(recipients(&sandbox), ["kitchen@garden.example"]);
}

#[test]
fn a_steered_program_waits_and_whoever_decides_sees_why() {
    let sandbox = sandbox();
    let paused = sandbox.run(&run("steered.js", "--save steered.chry"));
    let told = "paused: 1 call waits for a decision\n  \
                1.3 mail.send (line 10) {\"subject\":\"The budget of our wedding\",\"text\":\"catering: 1000 euros\\nflowers: \
                700 euros\\nhall: 1200 euros\\nmusic: 800 euros\",\"to\":\"max@power.example\"}\n      \
                rule of two: rsvps.list (call 1.1, line 3) brought untrusted content; budget.read (call 1.2, line 4) \
                brought private data\nsaved: steered.chry\n";
    assert_eq!(paused.parts(), (Some(3), "", told));
    let report = sandbox.run(&format!("resume steered.chry --tools {} --json", example("tools.toml"))).json();
    let met = json!([
        { "effect": "untrusted", "by": "rsvps.list (call 1.1, line 3)" },
        { "effect": "private", "by": "budget.read (call 1.2, line 4)" },
    ]);
    assert_eq!(report["pending"][0]["met"], met);
    let ran = sandbox.run(&format!("resume steered.chry --tools {} --reject 1.3", example("tools.toml")));
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert_eq!(recipients(&sandbox), [""; 0]);
    assert_eq!(called(&sandbox), ["1.1 rsvps.list", "1.2 budget.read"]);
}

#[test]
fn the_policy_stops_a_steered_program() {
    let sandbox = sandbox();
    let policy = example("policy.toml");
    let checked = sandbox.run(&format!("policy check {policy} --tools {} --json", example("tools.toml"))).json();
    assert_eq!((&checked["rules"], &checked["examples"], &checked["unused"]), (&json!(1), &json!(6), &json!([])));
    // Not even whoever granted all mails beforehand lets it through.
    for options in ["", "--grant tools=\"mail.send\",count=9"] {
        let ran = sandbox.run(&run("steered.js", &format!("--policy {policy} {options}")));
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(5), ""));
        let denied =
            "Denied: mail.send: \"mail goes to the vendors of contracts.json, and to nobody else\" (policy line 6)\n";
        assert!(ran.stderr.starts_with(denied), "{ran:?}");
    }
    assert_eq!(recipients(&sandbox), [""; 0]);
}

#[test]
fn the_honest_mails_go_with_one_approval() {
    let sandbox = sandbox();
    let policy = example("policy.toml");
    let mut command = sandbox.command(&run("plan.js", &format!("--policy {policy} --as ann --audit trail --json")));
    command.args(["--grant", "tools = \"mail.send\", count = 4, lasts = \"1h\""]);
    let done = finish(&mut command);
    assert_eq!(done.exit, Some(0), "{done:?}");
    let sent = json!(["kitchen@garden.example", "book@quartet.example"]);
    assert_eq!(done.json()["value"], planned(&sent, &json!([])));
    assert_eq!(recipients(&sandbox), ["book@quartet.example", "kitchen@garden.example"]);
    let calls = &done.json()["calls"];
    assert_eq!((&calls[3]["grant"], &calls[4]["grant"]), (&json!(1), &json!(1)));
    let granted: Json = sandbox.lines("trail").iter().map(|line| serde_json::from_str(line).unwrap()).nth(1).unwrap();
    assert_eq!((&granted["event"], &granted["by"]), (&json!("granted"), &json!("ann")));
    assert_eq!(sandbox.run("audit verify trail").exit, Some(0));
    // Without it each mail waits, the policy or no.
    let paused = sandbox.run(&run("plan.js", &format!("--policy {policy} --save wedding.chry --json")));
    assert_eq!((paused.exit, paused.json()["pending"].as_array().map(Vec::len)), (Some(3), Some(2)));
}

/// What the pages show of this example is what the commands print.
#[test]
fn the_pages_show_what_the_commands_print() {
    for page in ["README.md", "examples/wedding/README.md", "docs/policy.md"] {
        let sandbox = sandbox();
        // The pages name the example's files from the root, and leave their own there.
        std::os::unix::fs::symlink(example("../../examples"), sandbox.path("examples")).unwrap();
        let text = std::fs::read_to_string(example(&format!("../../{page}"))).unwrap();
        let mut commands = 0;
        for block in text.split("\n```").skip(1).step_by(2) {
            if let Some(policy) = block.strip_prefix("toml\n# mail.toml\n") {
                sandbox.write("mail.toml", format!("# mail.toml\n{policy}\n"));
            }
            let Some(shown) = block.strip_prefix("console\n").filter(|shown| shown.contains("examples/wedding")) else {
                continue;
            };
            for command in shown.split("$ ").skip(1).filter(|command| !command.contains("chrysalid repl")) {
                let (command, expected) = command.split_once('\n').unwrap_or((command, ""));
                let Some(words) = command.split_once("cargo run --release -- ").or(command.split_once("chrysalid "))
                else {
                    continue;
                };
                assert_eq!(plain(&said(&sandbox, words.1)), plain(expected.trim_end()), "{page}: {command}");
                commands += 1;
            }
        }
        assert!(commands >= 2, "{page}: {commands} commands");
    }
}

/// What a command prints, stdout first. Words are in single quotes or have none.
fn said(sandbox: &Sandbox, line: &str) -> String {
    let mut command = sandbox.command("");
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            0 => command.args(part.split_whitespace()),
            _ => command.arg(part),
        };
    }
    let ran = finish(&mut command);
    format!("{}{}", ran.stdout, ran.stderr).trim_end().to_owned()
}

/// The text without what differs from run to run: times, ids and hashes.
fn plain(text: &str) -> String {
    let word = |word: &str| {
        let is_hex = word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_time = word.len() == 24 && word.ends_with('Z') && word.starts_with("20");
        if is_hex || is_time { "*".to_owned() } else { word.to_owned() }
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.');
    let mut plain = String::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(start) = rest.find(is_part) {
            let (before, from) = rest.split_at(start);
            let (part, behind) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
            let bare = part.trim_end_matches(':');
            plain.extend([before, &word(bare), part.strip_prefix(bare).unwrap()]);
            rest = behind;
        }
        plain.extend([rest, "\n"]);
    }
    plain
}

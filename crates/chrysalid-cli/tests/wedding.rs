//! `examples/wedding`, run as its README says.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::sandbox::Sandbox;

fn example(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../examples/wedding", name].iter().collect();
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn lines(sandbox: &Sandbox, name: &str) -> Vec<Json> {
    sandbox.lines(name).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_plan_pauses_for_its_mails_and_goes_on() {
    let sandbox = Sandbox::new();
    let state = sandbox.path("state").to_str().unwrap().to_owned();
    let sandbox = sandbox.set("WEDDING_STATE", &state);
    let tools = example("tools.toml");
    let paused = sandbox.run(&format!("run {} --tools {tools} --save wedding.chry --json", example("plan.js")));
    assert_eq!((paused.exit, paused.stderr.as_str()), (Some(3), ""));
    let report = paused.json();
    assert_eq!(report["logs"], json!([{ "level": "log", "text": "12 guests are coming" }]));
    let reasons = json!([
        "asks each time",
        "rule of two: rsvps.list (call 1.1) brought untrusted content; contracts.list (call 1.2) brought private data",
    ]);
    let pending: Vec<_> = report["pending"].as_array().unwrap().iter().collect();
    let expected = [("1.4", "kitchen@garden.example"), ("1.5", "book@quartet.example")];
    assert_eq!(pending.len(), 2);
    for (call, (id, to)) in pending.iter().zip(expected) {
        assert_eq!((call["call"].as_str(), call["args"]["to"].as_str()), (Some(id), Some(to)));
        assert_eq!((&call["reasons"], &call["effects"]), (&reasons, &json!(["acts"])));
    }
    assert_eq!(lines(&sandbox, "state/calls.jsonl").len(), 3);
    assert!(lines(&sandbox, "state/outbox.jsonl").is_empty());

    let mut resume = sandbox.command(&format!("resume wedding.chry --tools {tools} --approve 1.4 --reject 1.5 --json"));
    resume.args(["--reason", "we keep the quartet as it is"]);
    let done = crate::sandbox::finish(&mut resume);
    assert_eq!(done.exit, Some(0), "{done:?}");
    let value = json!({
        "headcount": 12,
        "total": 3960,
        "vendors": [
            { "vendor": "catering", "cost": 1140, "over": 140 },
            { "vendor": "flowers", "cost": 640, "over": 0 },
            { "vendor": "hall", "cost": 1080, "over": 0 },
            { "vendor": "music", "cost": 1100, "over": 300 },
        ],
        "sent": ["kitchen@garden.example"],
        "not_sent": [{ "to": "book@quartet.example", "why": "mail.send was rejected: we keep the quartet as it is" }],
    });
    assert_eq!(done.json()["value"], value);
    let outbox = lines(&sandbox, "state/outbox.jsonl");
    assert_eq!(outbox.len(), 1);
    assert_eq!(outbox[0]["text"], "We will be 12. At 1140 euros, catering is 140 over what we planned. Can you help?");
    let calls: Vec<String> = lines(&sandbox, "state/calls.jsonl")
        .iter()
        .map(|call| format!("{} {}", call["call"].as_str().unwrap(), call["tool"].as_str().unwrap()))
        .collect();
    let (mut reads, mails) = (calls[..3].to_vec(), &calls[3..]);
    reads.sort();
    assert_eq!(reads, ["1.1 rsvps.list", "1.2 contracts.list", "1.3 budget.read"]);
    assert_eq!(mails, ["1.4 mail.send"]);
    let again = sandbox.run(&format!("resume wedding.chry --tools {tools} --approve 1.4"));
    assert_eq!(again.exit, Some(6));
    assert_eq!(lines(&sandbox, "state/outbox.jsonl").len(), 1);
}

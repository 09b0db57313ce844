//! What the host holds on behalf of a session is bounded: arguments, answers, decisions, sources, records.

use chrysalid::{Decision, ErrorKind, Modules, Value};
use serde_json::json;

use crate::support::{ENGINE, World, id, json, object, text, with_limits};

#[test]
fn answers_that_wait_together_are_bounded() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.host_memory = 2_500_000));
    let source = "const r = await Promise.allSettled([1, 2, 3, 4].map(() => tools.big({ n: 1e6 })));
        r.map(x => x.value?.length ?? `${x.reason.name}: ${x.reason.message}`)";
    let refused = "ResultTooLarge: result of big: its 1000004 bytes and what waits already are more than 2500000 bytes of the host";
    let value = world.run(&mut session, source).value();
    assert_eq!(value, json(json!([1_000_000, 1_000_000, refused, refused])));
    // What was delivered is held no longer.
    let source = "let n = 0; for (let i = 0; i < 10; i++) n += (await tools.big({ n: 1e6 })).length; n";
    assert_eq!(world.run(&mut session, source).value(), Value::from(10_000_000));
}

#[test]
fn an_answer_of_a_person_that_does_not_fit_is_refused_and_the_call_still_waits() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.host_memory = 100_000));
    world.run(&mut session, "(await tools.gate({ q: 1 })).length").waits();
    let error = session.decide(id("1.1"), Decision::Respond(text(&"x".repeat(200_000)))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert_eq!(
        error.to_string(),
        "call 1.1: its 200004 bytes and what waits already are more than 100000 bytes of the host"
    );
    let error = session.decide(id("1.1"), Decision::Reject(Some("n".repeat(200_000)))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    let error = session.decide(id("1.1"), Decision::Edit(object([("q", text(&"x".repeat(200_000)))]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    let answer = Decision::Respond(text(&"x".repeat(50_000)));
    assert_eq!(world.decide(&mut session, "1.1", answer).value(), Value::from(50_000));
}

#[test]
fn calls_that_wait_for_people_count_with_what_is_logged() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.host_memory = 400_000));
    let source = "let no; for (let i = 0; i < 10; i++) { tools.gate({ q: 'x'.repeat(60000) }).catch(e => { no ??= e.message }); await null }
        console.log(no); await new Promise(() => {})";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(pause.pending.len(), 3);
    // Whether the guest is told at once or the host reads the call first depends on where a slice ends.
    let refused = pause.logs.first().map(|line| line.text.as_str()).unwrap();
    let known = [
        "too many calls wait in the host's memory",
        "gate: its arguments and what waits already are more than 400000 bytes of the host",
    ];
    assert!(known.contains(&refused), "{refused}");
}

#[test]
fn sources_of_modules_on_their_way_are_bounded() {
    let mut options = with_limits(|limits| limits.host_memory = 500_000);
    options.modules = Modules::resolver(["a.js"], |key| {
        let next = key.trim_end_matches(".js").parse::<u32>().unwrap_or(0) + 1;
        let source = format!("import './{next}.js'; export const pad = '{}'", "x".repeat(100_000));
        std::future::ready(Ok(Some(source)))
    });
    let mut session = ENGINE.session_with(&chrysalid::Capabilities::none(), options).unwrap();
    let failure = World::new().run(&mut session, "import './0.js'").failure();
    assert_eq!(failure.name, "ResultTooLarge");
    assert_eq!(
        failure.message,
        "module \"4.js\": its source and what waits already are more than 500000 bytes of the host"
    );
}

#[test]
fn a_session_that_lives_long_keeps_the_latest_records() {
    let world = World::new();
    let mut session = world.session();
    let source = "for (let i = 0; i < 256; i++) await tools.echo({ v: i }); 1";
    for program in 1..=20 {
        let ended = world.run(&mut session, source).ended();
        assert_eq!(ended.calls.len(), 256);
        assert_eq!(session.calls().len(), 256 * program.min(17), "program {program}");
    }
    let calls = session.calls();
    assert_eq!((calls[0].id, calls[4351].id), (id("4.769"), id("20.5120")));
    let error = session.settle(id("1.1"), Ok(Value::Null)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownCall);
    assert_eq!(error.to_string(), "no call 1.1 in this session");
}

#[test]
fn questions_to_people_count_as_the_values_that_they_are_shown_as() {
    // 200,000 bytes of argument are 4 MB in the hands of whoever decides.
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.host_memory = 10 << 20));
    let source = "const q = new Array(100000).fill(0); let no;
        for (let i = 0; i < 4; i++) tools.gate({ q }).catch(e => { no = e.message; console.log(no) });
        await new Promise(() => {})";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(pause.pending.len(), 2);
    let refused = "gate: its arguments and what waits already are more than 10485760 bytes of the host";
    assert_eq!(pause.logs.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), [refused, refused]);
}

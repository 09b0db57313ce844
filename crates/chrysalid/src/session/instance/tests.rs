//! Entries one by one, without the policy of a session around them.

use super::{Entry, abi};
use crate::session::Doing;
use crate::session::imports::Request;
use crate::session::messages::{Reveal, tools_message};
use crate::value::wire::{self, Bounds};
use crate::{Capabilities, Engine, Handle, Session, Value};

const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 64, nodes: 10_000 };

fn session() -> Session {
    Engine::builder().pool_slots(0).build().unwrap().session(&Capabilities::none()).unwrap()
}

/// Enters, and again for as long as the program has jobs or timers left: on a busy machine a slice may end after any of
/// them.
pub(in crate::session) fn enter(session: &mut Session, entries: Vec<Entry>) -> Vec<Request> {
    session.enter(Doing::Running, entries);
    loop {
        while session.guest.poll(&session.meter).map(Result::unwrap).is_pending() {}
        let instance = session.guest.here().unwrap();
        let board = instance.board();
        let over = !board.jobs && board.next_due.is_none();
        if over || board.program == abi::PROGRAM_REJECTED {
            return instance.state().take().0;
        }
        session.meter.begin_step(board.next_due.unwrap_or_default());
        session.enter(Doing::Running, vec![Entry::Pump]);
    }
}

/// Runs a program with the tool `look`, which is answered by handles from `first` on, and gives every call of another
/// name, and what the program's value or error is shown as. `reveal` is answered by the number of the handle.
fn run(session: &mut Session, source: &str, reveal: Reveal, first: u32) -> (Vec<Request>, String) {
    session.start(source).unwrap();
    let program = session.state.program.as_ref().unwrap();
    let start = Entry::Start { program: program.number, source: program.code.clone() };
    let tools = Entry::Tools(tools_message([(false, "look", "look")], [], reveal));
    let mut requests = enter(session, vec![tools, start]);
    let (mut others, mut next) = (Vec::new(), first);
    while !requests.is_empty() {
        let mut answers = Vec::new();
        for request in requests {
            let value = if request.name == b"look" {
                next += 1;
                Value::from(Handle::new(next - 1, "look"))
            } else {
                let argument = wire::decode(&request.argument, &BOUNDS).unwrap();
                argument.as_handle().map_or(Value::Null, |handle| Value::from(handle.id))
            };
            let value = wire::encode(&value, &BOUNDS).unwrap();
            answers.extend(request.number.to_le_bytes());
            answers.push(abi::ANSWER_VALUE);
            answers.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
            answers.extend(value);
            if request.name != b"look" {
                others.push(request);
            }
        }
        requests = enter(session, vec![Entry::Settle(answers)]);
    }
    enter(session, vec![Entry::Outcome(abi::OUTCOME_VALUE)]);
    let shown = wire::decode(session.guest.here().unwrap().outbox(1 << 20).unwrap(), &BOUNDS).unwrap().to_string();
    enter(session, vec![Entry::Finish]);
    session.state.program = None;
    (others, shown)
}

fn freed(session: &mut Session) -> Vec<u32> {
    enter(session, vec![Entry::Freed]);
    session.guest.here().unwrap().freed(1000).unwrap()
}

#[test]
fn reveal_is_there_only_where_the_host_wants_it() {
    let mut session = session();
    let absent = |session: &mut Session| run(session, "typeof reveal", Reveal::Absent, 1).1;
    assert_eq!(absent(&mut session), "'undefined'");
    let source =
        "[typeof reveal, Object.getOwnPropertyDescriptor(globalThis, 'reveal').writable, Object.isFrozen(reveal)]";
    assert_eq!(run(&mut session, source, Reveal::Present, 1).1, "[ 'function', false, true ]");
    let source = "'use strict'; try { globalThis.reveal = 1 } catch (e) { e.name + typeof reveal }";
    assert_eq!(run(&mut session, source, Reveal::Present, 1).1, "'TypeErrorfunction'");
    assert_eq!(run(&mut session, "reveal = 1; typeof reveal", Reveal::Present, 1).1, "'function'");
    assert_eq!(absent(&mut session), "'undefined'");
    // What an earlier program declared gives way.
    run(&mut session, "function reveal() { return 1 }; 0", Reveal::Absent, 1);
    assert_eq!(run(&mut session, "reveal()", Reveal::Absent, 1).1, "1");
    assert_eq!(run(&mut session, "typeof reveal.call", Reveal::Present, 1).1, "'undefined'");
    assert_eq!(absent(&mut session), "'undefined'");
    run(&mut session, "const reveal = 1", Reveal::Absent, 1);
    assert_eq!(run(&mut session, "reveal", Reveal::Absent, 1).1, "1");
    assert_eq!(run(&mut session, "typeof reveal", Reveal::Present, 1).1, "'function'");
}

#[test]
fn reveal_is_a_call_with_the_handle_as_its_argument() {
    let source = "const a = await tools.look(), b = await tools.look()\nconst all = await Promise.all([a, b].map(reveal))\n\
        all.push(await reveal(b)); all";
    let (calls, value) = run(&mut session(), source, Reveal::Present, 7);
    assert_eq!(value, "[ 7, 8, 8 ]");
    let seen: Vec<_> = calls.iter().map(|call| (call.name.as_slice(), call.place.as_ref().unwrap().line)).collect();
    assert_eq!(seen, [(b"$reveal".as_slice(), 2), (b"$reveal", 2), (b"$reveal", 3)]);
    assert_eq!(wire::decode(&calls[1].argument, &BOUNDS), Ok(Value::from(Handle::new(8, "look"))));
}

#[test]
fn reveal_takes_one_handle() {
    let source = "const h = await tools.look(), told = []
        const lists = [[], [undefined], [null], [1], [1n], [true], ['x'], [Symbol()], [[h]], [{ h }], [() => h], [reveal],
          [Promise.resolve(h)], [new Proxy(h, {})], [Object.create(h)], [h, h], [h, 0], [h, 0, 0]]
        for (const list of lists) await reveal(...list).catch(e => told.push(e.message.replace('reveal takes one handle; got ', '')))
        told.join()";
    let (calls, told) = run(&mut session(), source, Reveal::Present, 1);
    assert_eq!(
        told,
        "'nothing,undefined,null,a number,a BigInt,a boolean,a string,a symbol,an array,an object,a function,a function,\
         a promise, await it first,an object,an object,2 arguments,2 arguments,3 arguments'"
    );
    assert!(calls.is_empty());
}

#[test]
fn handles_that_are_gone_are_told_once() {
    let mut session = session();
    assert!(freed(&mut session).is_empty());
    run(
        &mut session,
        "globalThis.a = await tools.look(); globalThis.b = await tools.look(); await tools.look(); 0",
        Reveal::Absent,
        1,
    );
    assert_eq!(freed(&mut session), [3]);
    assert!(freed(&mut session).is_empty());
    run(&mut session, "a = { b }; a.a = a; b = undefined; 0", Reveal::Absent, 4);
    assert_eq!(freed(&mut session), [1]);
    // Part of a cycle, which the collector has to find.
    run(&mut session, "a = 0; for (let i = 0; i < 300000; i++) { const o = {}; o.o = o }", Reveal::Absent, 4);
    assert_eq!(freed(&mut session), [2]);
}

#[test]
fn a_number_that_comes_again_is_the_same_object_while_it_lives() {
    let mut session = session();
    let source = "globalThis.a = await tools.look(); 0";
    run(&mut session, source, Reveal::Absent, 5);
    let source = "const b = await tools.look(); const same = a === b; a = undefined; same";
    assert_eq!(run(&mut session, source, Reveal::Absent, 5).1, "true");
    assert!(freed(&mut session).is_empty());
    run(&mut session, "const b = 1", Reveal::Absent, 1);
    assert_eq!(freed(&mut session), [5]);
    assert_eq!(run(&mut session, "await tools.look()", Reveal::Absent, 5).1, "[handle 5 of look]");
    assert_eq!(freed(&mut session), [5]);
}

#[test]
fn many_handles_come_and_go_in_any_order() {
    let mut session = session();
    let source = "let all = []; for (let i = 0; i < 500; i++) all.push(tools.look()); all = await Promise.all(all); 0";
    run(&mut session, source, Reveal::Absent, 1);
    let source = "for (let i = 0; i < 500; i++) if (i * 7919 % 500 >= 100) all[i * 7919 % 500] = null; 0";
    run(&mut session, source, Reveal::Absent, 1);
    let gone = freed(&mut session);
    assert_eq!(gone.len(), 400);
    let mut sorted = gone.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (101..=500).collect::<Vec<u32>>());
    assert_ne!(sorted, gone);
    run(&mut session, "all = all.filter(h => h).reverse(); all.length = 50; 0", Reveal::Absent, 1);
    let mut gone = freed(&mut session);
    gone.sort_unstable();
    assert_eq!(gone, (1..=50).collect::<Vec<u32>>());
}

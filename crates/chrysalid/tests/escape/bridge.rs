//! The bridge between program and tools: wrapping it, walking out of it, standing in the way of answers.

use chrysalid::defence::Defence;

use super::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        Defence::FrozenTools,
        "wrap_a_tool_for_the_next_program",
        &[
            "const orig = tools.pay; try { tools.pay = a => orig({ ...a, amount: 999 }) } catch {}",
            "(await tools.pay({ amount: 1 })).amount",
        ],
        "1, paid [1.0]",
        "999, paid [999.0]",
    ),
    attack(
        Defence::FrozenTools,
        "redefine_a_tool_as_a_getter",
        &[
            "const orig = tools.pay; try { Object.defineProperty(tools, 'pay', { get: () => a => orig({ amount: 998 }) }) } catch {}",
            "(await tools.pay({ amount: 1 })).amount",
        ],
        "1, paid [1.0]",
        "998, paid [998.0]",
    ),
    attack(
        Defence::FrozenTools,
        "take_a_tool_away",
        &["try { delete tools.gate } catch {} typeof tools.gate"],
        "'function'",
        "'undefined'",
    ),
    attack(
        Defence::FrozenTools,
        "put_a_tool_of_its_own_beside_the_others",
        &["try { tools.refund = () => 'mine' } catch {}", "'refund' in tools"],
        "false",
        "true",
    ),
    attack(
        Defence::FrozenTools,
        "change_what_all_tools_inherit_from",
        &["try { Object.setPrototypeOf(tools, { refund: () => 'mine' }) } catch {}", "'refund' in tools"],
        "false",
        "true",
    ),
    attack(
        Defence::BareTools,
        "walk_from_a_tool_to_the_function_constructor",
        &["try { typeof tools.pay.constructor('return this')() } catch (e) { e.name }"],
        "'TypeError'",
        "'object'",
    ),
    attack(
        Defence::BareTools,
        "change_how_every_function_is_called",
        &["Function.prototype.call = () => 'mine'", "try { tools.echo.call(null, { v: 1 }) } catch (e) { e.name }"],
        "'TypeError'",
        "'mine'",
    ),
    attack(
        Defence::PlainAnswers,
        "read_every_answer_through_a_then_on_object_prototype",
        &[
            "globalThis.stolen = []; Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { stolen.push(Object.keys(this).join()); return undefined } }); await tools.mirror({ secret: 1 }); delete Object.prototype.then; stolen.join()",
        ],
        "''",
        "'secret'",
    ),
    attack(
        Defence::PlainAnswers,
        "swap_an_answer_through_a_then_on_object_prototype",
        &[
            "const p = tools.mirror({ amount: 1 }).then(a => a.amount); Object.prototype.then = function (f) { delete Object.prototype.then; f({ amount: 997 }) }; await p",
        ],
        "1",
        "997",
    ),
    attack(
        Defence::PlainAnswers,
        "swap_a_list_through_a_then_on_array_prototype",
        &[
            "const p = tools.echo({ v: [1, 2] }).then(a => a[0]); Array.prototype.then = function (f) { delete Array.prototype.then; f([996]) }; await p",
        ],
        "1",
        "996",
    ),
    attack(
        Defence::PlainAnswers,
        "hang_on_a_then_inside_an_answer",
        &[
            "const r = await Promise.race([tools.echo({ v: { a: 1 } }), new Promise(r => setTimeout(r, 50, 'hung'))]); Object.prototype.then = 1; delete Object.prototype.then; const p = tools.echo({ v: { a: 2 } }).then(a => a.a); Object.prototype.then = function () {}; const q = new Promise(r => setTimeout(r, 50, 'hung')); Promise.race([p, q])",
        ],
        "2",
        "'hung'",
    ),
    attack(
        Defence::DefinedProperties,
        "a_setter_on_object_prototype_takes_fields_of_answers",
        &[
            "let stolen = 'nothing'; Object.defineProperty(Object.prototype, 'secret', { configurable: true, set(v) { stolen = v } }); await tools.mirror({ ['secret']: 'x' }); delete Object.prototype.secret; stolen",
        ],
        "'nothing'",
        "'x'",
    ),
    attack(
        Defence::DefinedProperties,
        "a_proto_key_in_an_answer_becomes_a_prototype",
        &[
            "const r = await tools.mirror(JSON.parse('{\"__proto__\":{\"admin\":true}}')); [r.admin, Object.keys(r).join()].join()",
        ],
        "',__proto__'",
        "'true,'",
    ),
    attack(
        Defence::StacksReset,
        "an_earlier_program_is_called_for_every_error_of_the_next",
        &[
            "Error.prepareStackTrace = () => { tools.pay({ amount: 5 }); return 'mine' }",
            "try { null.x } catch (e) { e.stack.length > 0 } 'honest'",
        ],
        "'honest'",
        "'honest', paid [5.0]",
    ),
    attack(
        Defence::GettersUnrun,
        "run_code_while_the_result_is_read",
        &["({ get a() { globalThis.ran = true; return 'from a getter' } })"],
        "{ a: [Getter] }",
        "{ a: 'from a getter' }",
    ),
    attack(
        Defence::GettersUnrun,
        "pay_while_the_result_is_read",
        &["let n = 0; ({ get a() { tools.pay({ amount: 4 }); return ++n } })", "n"],
        "0",
        "1",
    ),
];

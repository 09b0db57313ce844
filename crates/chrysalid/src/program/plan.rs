//! Which capabilities the text of a program can reach: [`plan`].
//!
//! What is read is the code that the guest gets, so that types, imports and the other changes to a program are behind us,
//! and places are led back to the source. It is parsed as it was, and walked: first until it is known what each `const`
//! is, then once more to note what is reached. The walk is bounded by the text, as the parser is.
//!
//! The rule: what is not understood is unknown. Nothing is left out because it looks harmless unless the language makes it
//! so. The guest reads a program as a script in which `await` is a keyword, which is neither of the parser's goals; where
//! the goals differ in what they take for text, comment or code, that is unknown, too.

mod expression;
mod findings;
mod globals;
mod key;
mod pattern;
mod scopes;
mod tree;
mod value;
mod visit;
mod walk;

use oxc_ast::ast::Program;
use oxc_ast_visit::VisitJs;

use super::parse::{self, Reading};
use super::place::Place;
use super::{Literals, Positions, Prepared, prepare, stack};
use crate::capability::Capabilities;
use crate::plan::{Plan, PlanName, PlanPlace, PlanRefusal, PlanTool, PlanUnknown, PlanUsage};
use findings::Findings;
pub(crate) use globals::means_something;
use tree::Tree;
use walk::Walk;

/// Walks that look for what `const`s are. A chain of them that runs against the order of the text needs one each.
const MAX_WALKS: usize = 3;

/// How much deeper this walk may go on the stack than the parser and the walks of a preparation.
const STACK_FACTOR: usize = 2;

/// The plan of a program as it was written.
pub(crate) fn plan(source: &str, capabilities: &Capabilities) -> Plan {
    match prepare(source) {
        Ok(prepared) => plan_prepared(&prepared, capabilities),
        Err(refusal) => {
            let place = refusal.at.map(public);
            Plan { refused: Some(PlanRefusal { reason: refusal.message, place }), ..Plan::default() }
        }
    }
}

/// The plan of a program that is prepared.
pub(crate) fn plan_prepared(prepared: &Prepared, capabilities: &Capabilities) -> Plan {
    let code = prepared.code.as_str();
    let tree = Tree::new(capabilities);
    let (need, _) = stack::need(code);
    let (tree, mut findings) = stack::with_room(need.saturating_mul(STACK_FACTOR), || {
        parse::with_arena(|arena| match parse::parse(arena, code, &[Reading::JavaScript, Reading::Script]) {
            Ok(parsed) => walked(code, &parsed.program, parsed.reading, tree),
            Err(error) => {
                let mut findings = Findings::default();
                let at = u32::try_from(error.at).unwrap_or_default();
                findings.unknown.push((at, findings::UNREADABLE));
                (tree, findings)
            }
        })
    });
    for name in &prepared.imports {
        findings.module(name);
    }
    public_plan(&Places::new(prepared, &tree, &findings), &tree, findings)
}

fn walked<'c>(code: &str, program: &Program<'_>, reading: Reading, tree: Tree<'c>) -> (Tree<'c>, Findings) {
    let mut walk = Walk::new(tree, reading);
    for _ in 0..MAX_WALKS {
        walk.changed = false;
        walk.visit_program(program);
        if !walk.changed {
            break;
        }
    }
    walk.recording = true;
    walk.visit_program(program);
    if let Some(at) = unclear_comment(code, program, reading) {
        walk.unknown(findings::COMMENT, at);
    }
    (walk.tree, walk.findings)
}

/// Where the guest may see a comment and the parser code, or the other way round.
fn unclear_comment(code: &str, program: &Program, reading: Reading) -> Option<u32> {
    // In the other goal, `-->` at the beginning of a line does not parse.
    let closes = reading == Reading::Script && code.contains("-->");
    if !closes && !code.contains("<!--") {
        return None;
    }
    let mut literals = Literals { spans: Vec::new() };
    literals.visit_program(program);
    let comments = program.comments.iter().map(|comment| comment.span);
    let plain = |start: u32| code.get(start as usize..).is_some_and(|text| text.starts_with('/'));
    literals.spans.extend(comments.filter(|span| plain(span.start)));
    literals.spans.extend(program.hashbang.as_ref().map(|line| line.span));
    literals.spans.sort_by_key(|span| span.start);
    let marks = code.match_indices("<!--").chain(code.match_indices("-->").filter(|_| closes));
    let outside = marks.filter_map(|(at, _)| u32::try_from(at).ok()).filter(|&at| {
        let before = literals.spans.partition_point(|span| span.start <= at);
        before.checked_sub(1).and_then(|last| literals.spans.get(last)).is_none_or(|span| span.end <= at)
    });
    outside.min()
}

/// Places in the source by offsets in the code, sorted.
struct Places {
    known: Vec<(u32, PlanPlace)>,
}

impl Places {
    /// One pass over the code for all that was found.
    fn new(prepared: &Prepared, tree: &Tree, findings: &Findings) -> Self {
        let mut offsets: Vec<u32> = tree.found().into_values().flat_map(|found| found.seen.places).collect();
        offsets.extend(findings.unknown.entries.iter().map(|(at, _)| *at));
        offsets.extend(findings.missing.entries.iter().chain(&findings.names.entries).map(|(at, _)| *at));
        offsets.sort_unstable();
        offsets.dedup();
        Self { known: places(&prepared.code, &prepared.positions, &offsets) }
    }

    fn get(&self, at: u32) -> PlanPlace {
        let found = self.known.binary_search_by_key(&at, |(offset, _)| *offset).ok();
        found.and_then(|index| self.known.get(index)).map_or_else(|| public(Place::START), |(_, place)| *place)
    }

    fn name(&self, (at, name): (u32, String)) -> PlanName {
        PlanName { name, place: self.get(at) }
    }
}

fn places(code: &str, positions: &Positions, offsets: &[u32]) -> Vec<(u32, PlanPlace)> {
    let mut place = Place::START;
    let mut from = 0;
    let mut known = Vec::with_capacity(offsets.len());
    for &offset in offsets {
        let to = usize::try_from(offset).unwrap_or(usize::MAX);
        if let Some(text) = code.get(from..to) {
            place.advance(text);
            from = to;
        }
        known.push((offset, public(positions.original(place))));
    }
    known
}

fn public(place: Place) -> PlanPlace {
    PlanPlace { line: place.line, column: place.column }
}

fn public_plan(places: &Places, tree: &Tree, mut findings: Findings) -> Plan {
    let tools = tree.found().into_iter().map(|(name, found)| {
        let mut path = String::from("tools");
        found.path.split('.').for_each(|part| findings::push_member(&mut path, part));
        if tree.global(name).is_some() {
            name.clone_into(&mut path);
        }
        PlanTool {
            name: name.to_owned(),
            path,
            usage: if found.seen.called { PlanUsage::Called } else { PlanUsage::Mentioned },
            places: found.seen.places.iter().map(|at| places.get(*at)).collect(),
            more_places: found.seen.more,
        }
    });
    let tools = tools.collect();
    findings.unknown.entries.sort_unstable();
    findings.unknown.entries.dedup();
    let unknown = findings.unknown.entries.iter();
    Plan {
        tools,
        unknown: unknown.map(|(at, reason)| PlanUnknown { reason, place: places.get(*at) }).collect(),
        more_unknown: findings.unknown.more,
        missing: findings.missing.entries.into_iter().map(|entry| places.name(entry)).collect(),
        more_missing: findings.missing.more,
        modules: findings.modules.entries,
        more_modules: findings.modules.more,
        names: findings.names.entries.into_iter().map(|entry| places.name(entry)).collect(),
        more_names: findings.names.more,
        refused: None,
    }
}

#[cfg(test)]
mod tests;

//! Modules on their way into the guest. Each source is fetched by a call of the session to its resolver, named
//! [`abi::MODULE_CALL`], which a driver begins like any other; a graph goes in when it is whole.
//!
//! Static imports of a program are loaded before it runs; `import()` is a call of the program, which ends when the graph
//! of its module is here and handed over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrysalid_policy::{Cost, Effects};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Session;
use super::instance::Entry;
use super::state::{Answer, AnswerError, OpenCall, StoredAsk};
use crate::call::{CallResult, CallStatus, ToolError};
use crate::capability::Delivery;
use crate::defence::{Defence, stands};
use crate::engine::abi;
use crate::module::key_of;
use crate::outcome::{Failure, FailureKind};
use crate::program::{self, Refusal};
use crate::value::{Object, Value, message, wire};

/// Most names that a refusal lists.
const LISTED: usize = 20;
/// What fetching a module costs.
const ONE_CALL: Cost<'static> = Cost { call: Some(abi::MODULE_CALL), bytes: 0, spawns: 0, depth: 0 };
/// Bytes of the longest key.
const LONGEST: usize = 1000;

/// What a program's imports wait for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Loading {
    jobs: Vec<Job>,
    /// Keys that are being fetched, by the call that fetches.
    fetching: BTreeMap<u32, String>,
    /// Fetched, and not in the guest.
    staged: BTreeMap<String, Staged>,
    failed: BTreeMap<String, ToolError>,
    /// Whether anything came in since the jobs were last looked at.
    changed: bool,
}

impl Loading {
    /// Bytes of sources that have not gone into the guest.
    pub(super) fn staged_bytes(&self) -> usize {
        self.staged.values().map(|staged| staged.code.len()).sum()
    }

    /// Every key that is kept, once for each place where it is.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let jobs = self.jobs.iter().map(|job| &job.key);
        let imports = self.staged.values().flat_map(|staged| &staged.imports);
        let keys = self.fetching.values().chain(self.staged.keys()).chain(self.failed.keys());
        jobs.chain(imports).chain(keys).map(String::as_str)
    }
}

/// A module that somebody waits for: the program itself, or one of its calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Job {
    call: Option<u32>,
    key: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Staged {
    code: Arc<str>,
    hash: [u8; 32],
    imports: Vec<String>,
}

/// What the static imports of a program allow.
pub(super) enum Static {
    Ready,
    Waiting,
    Failed(Failure),
}

impl Session {
    /// Begins to load what a program imports at its top.
    pub(super) fn want_modules(&mut self, specifiers: &[String]) {
        for specifier in specifiers {
            let key = key_of("", specifier);
            if self.state.modules.contains_key(&key) {
                continue;
            }
            if let Some(program) = &mut self.state.program {
                program.loading.jobs.push(Job { call: None, key: key.clone() });
            }
            self.fetch(&key, None);
        }
    }

    /// `import()` of the program. A module that the guest asks for is not there, whatever was recorded.
    pub(super) fn admit_import(&mut self, number: u32, argument: &[u8]) {
        let key = wire::decode(argument, &self.argument_bounds())
            .ok()
            .and_then(|argument| Some(argument.get("key")?.as_str()?.to_owned()))
            .unwrap_or_default();
        let refusal = if key.len() > LONGEST { Some(self.not_available(&key)) } else { self.out_of_calls(&key) };
        if let Some(error) = refusal {
            return self.refuse(number, abi::MODULE_CALL, CallStatus::Failed, error);
        }
        if self.state.modules.contains_key(&key) {
            // The guest could not compile it, or something that was handed over with it.
            self.state.modules.clear();
        }
        let Some(program) = &mut self.state.program else { return };
        program.spent.spend(&ONE_CALL);
        program.loading.changed = true;
        program.loading.jobs.push(Job { call: Some(number), key: key.clone() });
        self.fetch(&key, Some(number));
    }

    /// Sees to it that a key is fetched, by this call of the program's or a new one.
    fn fetch(&mut self, key: &str, call: Option<u32>) {
        let Some(program) = &mut self.state.program else { return };
        let loading = &mut program.loading;
        let known = loading.staged.contains_key(key)
            || loading.failed.contains_key(key)
            || loading.fetching.values().any(|fetched| fetched == key);
        if let (true, Some(number)) = (known, call) {
            // Somebody else's fetch answers this one.
            return self.record_fetch(number, key, CallStatus::Started);
        }
        if known {
            return;
        }
        if let Some(error) = self.cannot_fetch(key, call) {
            if let Some(program) = &mut self.state.program {
                program.loading.failed.insert(key.to_owned(), error);
            }
            if let Some(number) = call {
                self.record_fetch(number, key, CallStatus::Started);
            }
            return;
        }
        let number = call.or_else(|| self.next_number());
        let Some(program) = &mut self.state.program else { return };
        let Some(number) = number else {
            let message = format!("module {}: no call of this session has a number left", named(key));
            program.loading.failed.insert(key.to_owned(), ToolError::named("CallBudgetExceeded", message));
            return;
        };
        if call.is_none() {
            program.spent.spend(&ONE_CALL);
        }
        program.loading.fetching.insert(number, key.to_owned());
        self.record_fetch(number, key, CallStatus::Queued);
    }

    fn cannot_fetch(&self, key: &str, call: Option<u32>) -> Option<ToolError> {
        let modules = &self.options.modules;
        let leaves = key.split('/').any(|segment| segment == "..") && stands(Defence::RootedModules);
        if modules.handler().is_none() || key.is_empty() || leaves || key.contains('\0') || key.len() > LONGEST {
            return Some(self.not_available(key));
        }
        // That of the program's own call is counted already.
        if call.is_some() { None } else { self.out_of_calls(key) }
    }

    fn out_of_calls(&self, key: &str) -> Option<ToolError> {
        let made = self.state.program.as_ref().map_or(0, |program| program.spent.calls);
        (made >= self.limits.calls).then(|| {
            let message = format!("module {}: this program may make {made} calls and has made them", named(key));
            ToolError::named("CallBudgetExceeded", message)
        })
    }

    fn not_available(&self, key: &str) -> ToolError {
        let names = self.options.modules.names();
        let key = named(key);
        let message = match names {
            [] => format!("module {key} is not available: there are no modules here; call tools.<name>({{...}})"),
            names => {
                let more = if names.len() > LISTED { ", ..." } else { "" };
                let list: Vec<&str> = names.iter().take(LISTED).map(String::as_str).collect();
                format!("module {key} is not available; these are: {}{more}", list.join(", "))
            }
        };
        ToolError::named("ImportError", message)
    }

    pub(super) fn next_number(&mut self) -> Option<u32> {
        let state = self.guest.here()?.state();
        let number = state.last_number.checked_add(1).filter(|number| *number != abi::CALL_REFUSED)?;
        state.last_number = number;
        self.state.last_call = self.state.last_call.max(number);
        Some(number)
    }

    fn record_fetch(&mut self, number: u32, key: &str, status: CallStatus) {
        let argument = Value::Object(Object::from_iter([("key", key)]));
        let open = OpenCall {
            argument: wire::encode_canonical(&argument, &self.argument_bounds()).unwrap_or_default(),
            given: None,
            value_bytes: 0,
            definition: [0; 16],
            effects: Effects::NONE,
            carried: Effects::NONE,
            delivery: Delivery::Value,
            ask: StoredAsk::default(),
            requested_millis: self.meter.last_host_millis(),
            started_millis: None,
            decision: None,
            approved: false,
        };
        self.record_call(number, abi::MODULE_CALL, status, Some(open));
    }

    /// The resolver answered. What the module imports needs call numbers, which a guest that is away may hand out as well:
    /// then the answer waits.
    pub(super) fn module_settled(&mut self, number: u32, result: CallResult) {
        if self.guest.here().is_some() {
            self.charged(|session| session.take_module(number, result));
        } else {
            self.module_results.push((number, result));
        }
    }

    /// Takes the answers that came while the guest was away.
    pub(super) fn take_modules(&mut self) {
        for (number, result) in std::mem::take(&mut self.module_results) {
            self.take_module(number, result);
        }
    }

    fn take_module(&mut self, number: u32, result: CallResult) {
        let is_job = self
            .state
            .program
            .as_ref()
            .is_some_and(|program| program.loading.jobs.iter().any(|job| job.call == Some(number)));
        let Some(key) = self.state.program.as_mut().and_then(|program| program.loading.fetching.remove(&number)) else {
            return;
        };
        if let Some(program) = &mut self.state.program {
            program.loading.changed = true;
        }
        self.running.remove(&number);
        let staged = match result {
            Ok(source) => match source.as_str() {
                Some(source) => self.stage(&key, source),
                None => Err(self.not_available(&key)),
            },
            Err(error) => Err(ToolError { message: format!("module {}: {}", named(&key), error.message), ..error }),
        };
        if !is_job {
            self.end_fetch(number, if staged.is_ok() { CallStatus::Completed } else { CallStatus::Failed });
        }
        match staged {
            Ok(staged) => {
                let imports = staged.imports.clone();
                if let Some(program) = &mut self.state.program {
                    program.loading.staged.insert(key, staged);
                }
                for import in imports {
                    if !self.state.modules.contains_key(&import) {
                        self.fetch(&import, None);
                    }
                }
            }
            Err(error) => {
                if let Some(program) = &mut self.state.program {
                    program.loading.failed.insert(key, error);
                }
            }
        }
    }

    fn end_fetch(&mut self, number: u32, status: CallStatus) {
        let id = self.id_of(number);
        self.state.calls.end(number, status, self.meter.last_host_millis());
        self.tell(&crate::event::Event::CallEnded { id, name: abi::MODULE_CALL, status });
    }

    fn stage(&self, key: &str, source: &str) -> Result<Staged, ToolError> {
        if self.meter.timed_out() && stands(Defence::CallsCharged) {
            return Err(ToolError::named("ToolError", format!("module {}: the program is out of time", named(key))));
        }
        let bound = self.limits.source_size;
        if source.len() > bound {
            let message = format!("module {}: source of {} bytes is more than {bound}", named(key), source.len());
            return Err(ToolError::named("ResultTooLarge", message));
        }
        if !self.room_for(source.len()) {
            let message = self.no_room(&format!("module {}: its source", named(key)));
            return Err(ToolError::named("ResultTooLarge", message));
        }
        let hash: [u8; 32] = Sha256::digest(source).into();
        let prepared = if let Some(prepared) = self.making.engine.modules().get(&hash) {
            prepared
        } else {
            let prepared = program::prepare_module(source).map_err(|refusal| syntax_error(key, &refusal))?;
            self.making.engine.modules().put(hash, prepared)
        };
        let imports = prepared.imports.iter().map(|specifier| key_of(key, specifier)).collect();
        Ok(Staged { code: prepared.code.clone(), hash, imports })
    }

    /// Whether the program may begin.
    pub(super) fn static_imports(&mut self) -> Static {
        let Some(program) = &self.state.program else { return Static::Ready };
        let mut waiting = false;
        for job in program.loading.jobs.iter().filter(|job| job.call.is_none()) {
            match self.graph(&job.key) {
                Graph::Whole(_) => {}
                Graph::Waiting => waiting = true,
                Graph::Failed(error) => {
                    return Static::Failed(Failure {
                        name: error.name,
                        ..Failure::of(FailureKind::Exception, error.message)
                    });
                }
            }
        }
        if waiting { Static::Waiting } else { Static::Ready }
    }

    /// What puts the modules of a program's static imports into the guest.
    pub(super) fn take_static_modules(&mut self) -> Option<Entry> {
        let program = self.state.program.as_ref()?;
        let roots: Vec<String> =
            program.loading.jobs.iter().filter(|job| job.call.is_none()).map(|job| job.key.clone()).collect();
        let mut keys = BTreeSet::new();
        for root in &roots {
            if let Graph::Whole(graph) = self.graph(root) {
                keys.extend(graph);
            }
        }
        if let Some(program) = &mut self.state.program {
            program.loading.jobs.retain(|job| job.call.is_some());
        }
        (!keys.is_empty()).then(|| Entry::Modules(self.take_graph(keys)))
    }

    /// Answers the imports of the program whose graphs are whole, or will not be.
    pub(super) fn finish_imports(&mut self) {
        let Some(program) = &mut self.state.program else { return };
        if !std::mem::take(&mut program.loading.changed) {
            return;
        }
        let calls: Vec<(u32, String)> =
            program.loading.jobs.iter().filter_map(|job| Some((job.call?, job.key.clone()))).collect();
        for (number, key) in calls {
            let result = match self.graph(&key) {
                Graph::Waiting => continue,
                Graph::Failed(error) => Err(error),
                Graph::Whole(graph) => Ok(graph),
            };
            if let Some(program) = &mut self.state.program {
                program.loading.jobs.retain(|job| job.call != Some(number));
            }
            let (status, answer) = match result {
                Ok(graph) => {
                    let mut body = Vec::new();
                    message::put_text(&mut body, &key);
                    body.extend(self.take_graph(graph));
                    (CallStatus::Completed, Answer { call: number, result: Ok(body), module: true })
                }
                Err(error) => {
                    let tool = abi::MODULE_CALL.to_owned();
                    (
                        CallStatus::Failed,
                        Answer { call: number, result: Err(AnswerError { error, tool }), module: false },
                    )
                }
            };
            self.end_fetch(number, status);
            if let Some(program) = &mut self.state.program {
                program.answers.push(answer);
            }
        }
        if let Some(program) = self.state.program.as_mut().filter(|program| program.loading.jobs.is_empty()) {
            // A later import asks again for what was not there. Until then others may wait for the same.
            program.loading.failed.clear();
            program.loading.staged.clear();
        }
    }

    /// Imports that a program no longer waits for.
    pub(super) fn drop_imports(&mut self) {
        if let Some(program) = &mut self.state.program {
            program.loading = Loading::default();
        }
        let open: Vec<u32> = self
            .state
            .calls
            .open()
            .filter(|(_, call)| call.name == abi::MODULE_CALL)
            .map(|(number, _)| number)
            .collect();
        for number in open {
            if let Some(running) = self.running.remove(&number) {
                running.cancel.cancel();
            }
            self.end_fetch(number, CallStatus::Abandoned);
        }
    }

    /// A fetch that nobody drives any more is begun again: it has no effect.
    pub(super) fn requeue_fetches(&mut self) {
        let Some(program) = &self.state.program else { return };
        for number in program.loading.fetching.keys() {
            if let Some(call) = self.state.calls.get_mut(*number) {
                call.status = CallStatus::Queued;
            }
        }
    }

    /// What of the graph under a key is not in the guest yet.
    fn graph(&self, root: &str) -> Graph {
        let Some(program) = &self.state.program else { return Graph::Waiting };
        let loading = &program.loading;
        let (mut graph, mut todo) = (BTreeSet::new(), vec![root.to_owned()]);
        let mut waiting = false;
        while let Some(key) = todo.pop() {
            if self.state.modules.contains_key(&key) || graph.contains(&key) {
                continue;
            }
            if let Some(error) = loading.failed.get(&key) {
                return Graph::Failed(error.clone());
            }
            match loading.staged.get(&key) {
                Some(staged) => todo.extend(staged.imports.iter().cloned()),
                None => waiting = true,
            }
            graph.insert(key);
        }
        if waiting { Graph::Waiting } else { Graph::Whole(graph) }
    }

    /// The message that hands a graph to the guest; from here on its modules count as loaded.
    fn take_graph(&mut self, keys: BTreeSet<String>) -> Vec<u8> {
        let Some(program) = &mut self.state.program else { return vec![0] };
        let mut out = Vec::new();
        message::put_varint(&mut out, keys.len());
        for key in keys {
            let Some(staged) = program.loading.staged.remove(&key) else { continue };
            message::put_text(&mut out, &key);
            message::put_text(&mut out, &staged.code);
            self.state.modules.insert(key, staged.hash);
        }
        out
    }
}

enum Graph {
    Whole(BTreeSet<String>),
    Waiting,
    Failed(ToolError),
}

/// A key in quotes, as errors show it.
fn named(key: &str) -> String {
    let mut shown: String = key.chars().take(100).collect();
    if shown.len() < key.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

fn syntax_error(key: &str, refusal: &Refusal) -> ToolError {
    let place = refusal.at.map(|place| format!(" ({}:{})", place.line, place.column)).unwrap_or_default();
    ToolError::named("SyntaxError", format!("module {}: {}{place}", named(key), refusal.message))
}

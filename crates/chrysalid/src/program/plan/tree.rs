//! The capabilities as the program finds them: a tree under `tools`, and where each node of it was seen.

use std::collections::{BTreeMap, HashMap};

use crate::capability::Capabilities;

/// Places that are kept for a node, and for a tool.
pub(super) const MAX_PLACES: usize = 16;

/// A namespace or a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(usize);

pub(super) const ROOT: Node = Node(0);

pub(super) struct Tree<'c> {
    /// The root first; a parent before its children.
    nodes: Vec<Data<'c>>,
    /// Those that are global functions, by their names.
    globals: HashMap<&'c str, Node>,
}

#[derive(Default)]
struct Data<'c> {
    parent: usize,
    /// Its name in the parent.
    part: &'c str,
    children: HashMap<&'c str, usize>,
    /// The name of the capability and its path.
    capability: Option<(&'c str, &'c str)>,
    seen: Seen,
}

/// Where something was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) called: bool,
    /// Byte offsets in the code that the guest gets.
    pub(super) places: Vec<u32>,
    pub(super) more: usize,
}

impl Seen {
    fn add(&mut self, at: u32, called: bool) {
        self.called |= called;
        if self.places.len() < MAX_PLACES {
            self.places.push(at);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.called |= other.called;
        self.places.extend(&other.places);
        self.more = self.more.saturating_add(other.more);
    }

    /// Sorts the places and keeps as many as one tool has.
    fn settle(&mut self) {
        self.places.sort_unstable();
        self.places.dedup();
        self.more = self.more.saturating_add(self.places.len().saturating_sub(MAX_PLACES));
        self.places.truncate(MAX_PLACES);
    }
}

/// A capability that was seen.
pub(super) struct Found<'c> {
    /// Its path under `tools`, with dots between the parts.
    pub(super) path: &'c str,
    pub(super) seen: Seen,
}

impl<'c> Tree<'c> {
    pub(super) fn new(capabilities: &'c Capabilities) -> Self {
        let mut nodes = vec![Data::default()];
        for (_, path, name) in capabilities.paths() {
            let mut at = 0;
            for part in path.split('.') {
                let next = nodes.len();
                let Some(data) = nodes.get_mut(at) else { break };
                let child = *data.children.entry(part).or_insert(next);
                if child == next {
                    nodes.push(Data { parent: at, part, ..Data::default() });
                }
                at = child;
            }
            if let Some(data) = nodes.get_mut(at) {
                data.capability = Some((name, path));
            }
        }
        let root = nodes.first().map(|root| &root.children);
        let node = |name: &'c str| Some((name, Node(*root?.get(name)?)));
        let globals = capabilities.globals().filter_map(node).collect();
        Self { nodes, globals }
    }

    /// The tool that is this global function.
    pub(super) fn global(&self, name: &str) -> Option<Node> {
        self.globals.get(name).copied()
    }

    pub(super) fn child(&self, node: Node, name: &str) -> Option<Node> {
        self.nodes.get(node.0)?.children.get(name).copied().map(Node)
    }

    pub(super) fn is_capability(&self, node: Node) -> bool {
        self.nodes.get(node.0).is_some_and(|data| data.capability.is_some())
    }

    /// The names on the way to a node.
    pub(super) fn parts(&self, node: Node) -> Vec<&'c str> {
        let mut parts = Vec::new();
        let mut at = node.0;
        while at != ROOT.0
            && let Some(data) = self.nodes.get(at)
        {
            parts.push(data.part);
            at = data.parent;
        }
        parts.reverse();
        parts
    }

    /// Notes that a capability, or all of a namespace, is named at `at`.
    pub(super) fn mention(&mut self, node: Node, at: u32) {
        if let Some(data) = self.nodes.get_mut(node.0) {
            data.seen.add(at, false);
        }
    }

    pub(super) fn call(&mut self, node: Node, at: u32) {
        if let Some(data) = self.nodes.get_mut(node.0) {
            data.seen.add(at, true);
        }
    }

    /// What was seen, by the names of capabilities.
    pub(super) fn found(&self) -> BTreeMap<&'c str, Found<'c>> {
        // What is seen of a node is seen of all that is under it.
        let mut inherited: Vec<Seen> = Vec::with_capacity(self.nodes.len());
        let mut found: BTreeMap<&'c str, Found<'c>> = BTreeMap::new();
        for (index, data) in self.nodes.iter().enumerate() {
            let mut seen = data.seen.clone();
            if index > 0
                && let Some(outer) = inherited.get(data.parent)
            {
                seen.merge(outer);
            }
            seen.settle();
            if let Some((name, path)) = data.capability
                && let Some(&first) = seen.places.first()
            {
                let known = found.entry(name).or_insert_with(|| Found { path, seen: Seen::default() });
                // A path that is written earlier counts; of two that are not written, the one that is shown elsewhere.
                if known.seen.places.first().is_none_or(|earlier| first <= *earlier) {
                    known.path = path;
                }
                known.seen.merge(&seen);
                known.seen.settle();
            }
            inherited.push(seen);
        }
        found
    }
}

//! `anyOf`, `oneOf` and `allOf`: which of the alternatives was meant, and what is wrong with that.

use serde_json::{Map, Value as Json};

use super::check::{Check, Unlisted};
use super::problem::{Problem, kind, with_article};

/// Alternatives that are tried.
const MAX_BRANCHES: usize = 32;

impl<'a> Check<'a> {
    pub(super) fn alternatives(&mut self, fields: &'a Map<String, Json>, value: &'a Json, depth: usize) {
        if let Some(Json::Array(branches)) = fields.get("allOf") {
            for branch in branches.iter().take(MAX_BRANCHES) {
                self.at(branch, value, depth + 1, Unlisted::Accepted);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Json::Array(branches)) = fields.get(keyword) {
                let fitting = self.fitting(branches, value, depth);
                if keyword == "oneOf" && fitting > 1 {
                    self.suspect(format!("must fit only one of {} forms", branches.len()));
                }
            }
        }
    }

    /// How many branches fit; says what is wrong when none does.
    fn fitting(&mut self, branches: &'a [Json], value: &'a Json, depth: usize) -> usize {
        let tried: Vec<Vec<Problem>> =
            branches.iter().take(MAX_BRANCHES).map(|branch| self.tried(branch, value, depth)).collect();
        let fitting = tried.iter().filter(|problems| problems.is_empty()).count();
        if fitting == 0 {
            self.none_fits(branches, tried, value);
        }
        fitting
    }

    fn none_fits(&mut self, branches: &[Json], tried: Vec<Vec<Problem>>, value: &Json) {
        // With steps used up, or branches left out, an alternative that fits may not have been seen.
        if branches.is_empty() || branches.len() > MAX_BRANCHES || self.steps == 0 {
            return;
        }
        let here = self.path.len();
        let wrong_kind = |problems: &[Problem]| {
            problems.iter().any(|problem| matches!(problem, Problem::Type { depth, .. } if *depth == here))
        };
        let meant: Vec<Vec<Problem>> = tried.into_iter().filter(|problems| !wrong_kind(problems)).collect();
        let told = match meant.as_slice() {
            [] => vec![self.wrong_kind(branches, value)],
            [only] => only.clone(),
            many => any_missing(many).or_else(|| tag(many)).map_or_else(|| self.closest(many), |problem| vec![problem]),
        };
        self.found.extend(told);
    }

    /// The problems of one branch alone. What is only suspected there is suspected of the whole.
    fn tried(&mut self, branch: &'a Json, value: &'a Json, depth: usize) -> Vec<Problem> {
        let before = std::mem::take(&mut self.found);
        self.at(branch, value, depth + 1, Unlisted::Accepted);
        std::mem::replace(&mut self.found, before)
    }

    fn wrong_kind(&self, branches: &[Json], value: &Json) -> Problem {
        let mut wanted: Vec<String> = Vec::new();
        for branch in branches {
            for kind in self.kinds(branch, 1) {
                let kind = with_article(&kind);
                if !wanted.contains(&kind) {
                    wanted.push(kind);
                }
            }
        }
        if wanted.is_empty() || wanted.len() > 6 {
            return self.no_form(branches.len());
        }
        Problem::Type { path: self.here(), depth: self.path.len(), wanted, got: kind(value) }
    }

    /// The problems of the branch with the least of them, if it is one.
    fn closest(&self, branches: &[Vec<Problem>]) -> Vec<Problem> {
        let weight = |problems: &Vec<Problem>| -> usize {
            problems.iter().map(|problem| if matches!(problem, Problem::OneOf { .. }) { 10 } else { 1 }).sum()
        };
        let least = branches.iter().map(weight).min();
        let closest: Vec<&Vec<Problem>> = branches.iter().filter(|branch| Some(weight(branch)) == least).collect();
        match closest.as_slice() {
            [only] => (*only).clone(),
            _ => vec![self.no_form(branches.len())],
        }
    }

    fn no_form(&self, count: usize) -> Problem {
        Problem::Other { path: self.here(), text: format!("does not fit any of {count} forms") }
    }
}

/// Each branch only lacks one field: one of them is needed.
fn any_missing(branches: &[Vec<Problem>]) -> Option<Problem> {
    let mut paths = Vec::new();
    for branch in branches {
        let [Problem::Missing { path, .. }] = branch.as_slice() else { return None };
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    Some(Problem::MissingAny(paths))
}

/// Each branch wants another value in the same place: the tag of a union, or a union of literals.
fn tag(branches: &[Vec<Problem>]) -> Option<Problem> {
    let mut place = None;
    let mut all = Vec::new();
    for branch in branches {
        let (path, values) = branch.iter().find_map(|problem| match problem {
            Problem::OneOf { path, values } => Some((path, values)),
            _ => None,
        })?;
        if *place.get_or_insert(path) != path {
            return None;
        }
        for value in values {
            if !all.contains(value) {
                all.push(value.clone());
            }
        }
    }
    place.map(|path| Problem::OneOf { path: path.clone(), values: all })
}

//! `--approve CALL`, `--reject CALL [--reason TEXT]`, `--respond CALL JSON`, `--edit CALL JSON`, `--replace CALL TOOL JSON`,
//! each any number of times. CALL is an id such as `1.2`, or `1.2@TOKEN` with at least 16 digits of the token that was shown.
//!
//! Written by hand over clap's matches: a derived field per option would lose which reason stood behind which reject.

use std::collections::BTreeMap;
use std::collections::HashSet;

use chrysalid::{CallId, Decision, Value};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use crate::json;

const APPROVE: &str = "approve";
const REJECT: &str = "reject";
const REASON: &str = "reason";
const RESPOND: &str = "respond";
const EDIT: &str = "edit";
const REPLACE: &str = "replace";

/// Digits of a token that tell it from all others.
const TOKEN_DIGITS: usize = 16;

/// Decisions about calls, in the order they were given.
#[derive(Debug, Default)]
pub(crate) struct Decisions(pub(crate) Vec<Decided>);

/// A decision about one call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decided {
    pub(crate) call: CallId,
    /// How the token begins that it is bound to, in hex.
    pub(crate) token: Option<String>,
    pub(crate) decision: Decision,
}

/// A call, and how its token begins.
#[derive(Clone, Debug)]
struct Named {
    call: CallId,
    token: Option<String>,
}

impl Named {
    fn decided(self, decision: Decision) -> Decided {
        Decided { call: self.call, token: self.token, decision }
    }
}

impl Args for Decisions {
    fn augment_args(command: Command) -> Command {
        let pair = |name: &'static str, help: &'static str| {
            Arg::new(name)
                .long(name)
                .num_args(2)
                .value_names(["CALL", "JSON"])
                .action(ArgAction::Append)
                .allow_negative_numbers(true)
                .help(help)
        };
        let call = |name: &'static str, help: &'static str| {
            Arg::new(name).long(name).value_name("CALL").action(ArgAction::Append).value_parser(named).help(help)
        };
        command
            .arg(call(APPROVE, "Let a waiting call run as it is shown"))
            .arg(call(REJECT, "Do not run a waiting call; the program gets an error"))
            .arg(
                Arg::new(REASON)
                    .long(REASON)
                    .value_name("TEXT")
                    .action(ArgAction::Append)
                    .help("Why, for the --reject before it"),
            )
            .arg(pair(RESPOND, "Do not run a waiting call; the program gets this value"))
            .arg(pair(EDIT, "Let a waiting call run with these arguments; for a whole program, its new text"))
            .arg(
                Arg::new(REPLACE)
                    .long(REPLACE)
                    .num_args(3)
                    .value_names(["CALL", "TOOL", "JSON"])
                    .action(ArgAction::Append)
                    .help("Call another tool with these arguments in place of a waiting call"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Decisions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut by_place = BTreeMap::new();
        for (place, call) in calls(matches, APPROVE) {
            by_place.insert(place, call.decided(Decision::Approve));
        }
        for (place, call) in calls(matches, REJECT) {
            by_place.insert(place, call.decided(Decision::Reject(None)));
        }
        for (place, call, value) in pairs(matches, RESPOND)? {
            by_place.insert(place, call.decided(Decision::Respond(value)));
        }
        for (place, call, value) in pairs(matches, EDIT)? {
            by_place.insert(place, call.decided(Decision::Edit(value)));
        }
        for (place, decided) in replacements(matches)? {
            by_place.insert(place, decided);
        }
        give_reasons(matches, &mut by_place)?;
        let mut seen = HashSet::new();
        if let Some(twice) = by_place.values().find(|decided| !seen.insert(decided.call)) {
            return Err(refuse(format!("call {} is decided twice", twice.call)));
        }
        Ok(Self(by_place.into_values().collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn named(text: &str) -> Result<Named, String> {
    let id = |text: &str| text.parse().map_err(|error: chrysalid::Error| error.to_string());
    match text.split_once('@') {
        None => Ok(Named { call: id(text)?, token: None }),
        Some((call, token)) => {
            let is_token = token.len() >= TOKEN_DIGITS && token.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !is_token {
                return Err(format!("{token:?} is not a token, which has at least {TOKEN_DIGITS} hex digits"));
            }
            Ok(Named { call: id(call)?, token: Some(token.to_ascii_lowercase()) })
        }
    }
}

fn calls(matches: &ArgMatches, name: &str) -> Vec<(usize, Named)> {
    let places = matches.indices_of(name).into_iter().flatten();
    let calls = matches.get_many::<Named>(name).into_iter().flatten().cloned();
    places.zip(calls).collect()
}

fn replacements(matches: &ArgMatches) -> Result<Vec<(usize, Decided)>, Error> {
    let places = matches.indices_of(REPLACE).into_iter().flatten().step_by(3);
    let occurrences = matches.get_occurrences::<String>(REPLACE).into_iter().flatten();
    let mut found = Vec::new();
    for (place, mut words) in places.zip(occurrences) {
        let (Some(call), Some(name), Some(text)) = (words.next(), words.next(), words.next()) else { continue };
        let call = named(call).map_err(|error| refuse(format!("--{REPLACE}: {error}")))?;
        let argument = one_value(REPLACE, call.call, text)?;
        found.push((place, call.decided(Decision::EditCall { name: name.clone(), argument })));
    }
    Ok(found)
}

fn one_value(name: &str, call: CallId, text: &str) -> Result<Value, Error> {
    json::value(text.as_bytes())
        .map_err(|error| refuse(format!("--{name} {call}: {text:?} is not one JSON value: {error}")))
}

fn pairs(matches: &ArgMatches, name: &str) -> Result<Vec<(usize, Named, Value)>, Error> {
    let places = matches.indices_of(name).into_iter().flatten().step_by(2);
    let occurrences = matches.get_occurrences::<String>(name).into_iter().flatten();
    let mut found = Vec::new();
    for (place, mut words) in places.zip(occurrences) {
        let (Some(call), Some(text)) = (words.next(), words.next()) else { continue };
        let call = named(call).map_err(|error| refuse(format!("--{name}: {error}")))?;
        let value = one_value(name, call.call, text)?;
        found.push((place, call, value));
    }
    Ok(found)
}

fn give_reasons(matches: &ArgMatches, by_place: &mut BTreeMap<usize, Decided>) -> Result<(), Error> {
    let places = matches.indices_of(REASON).into_iter().flatten();
    let reasons = matches.get_many::<String>(REASON).into_iter().flatten();
    for (place, reason) in places.zip(reasons) {
        let rejected = by_place.range_mut(..place).rev().find_map(|(_, decided)| match &mut decided.decision {
            Decision::Reject(reason) => Some((decided.call, reason)),
            _ => None,
        });
        match rejected {
            Some((_, empty @ None)) => *empty = Some(reason.clone()),
            Some((call, Some(_))) => return Err(refuse(format!("--reject {call} has two reasons"))),
            None => return Err(refuse(format!("--reason {reason:?} stands behind no --reject"))),
        }
    }
    Ok(())
}

fn refuse(message: String) -> Error {
    Error::raw(ErrorKind::ValueValidation, message)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{CallId, Decided, Decision, Decisions, Value};

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        decisions: Decisions,
        #[arg(long)]
        json: bool,
    }

    fn read(words: &str) -> Result<Vec<(CallId, Decision)>, String> {
        let words = words.split('|').filter(|word| !word.is_empty());
        Line::try_parse_from(["x"].into_iter().chain(words))
            .map(|line| line.decisions.0.into_iter().map(|Decided { call, decision, .. }| (call, decision)).collect())
            .map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
    }

    fn id(number: u32) -> CallId {
        CallId { program: 1, number }
    }

    #[test]
    fn decisions_keep_their_order_and_reasons_their_reject() {
        let decisions = read(
            "--reject|1.5|--approve|1.4|--reason|too dear|--respond|1.6|-5|--reject|1.7|--edit|1.8|{}|--reason|no|--json",
        );
        let expected = [
            (id(5), Decision::Reject(Some("too dear".into()))),
            (id(4), Decision::Approve),
            (id(6), Decision::Respond(Value::from(-5))),
            (id(7), Decision::Reject(Some("no".into()))),
            (id(8), Decision::Edit(Value::Object(chrysalid::Object::default()))),
        ];
        assert_eq!(decisions.unwrap(), expected);
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let cases = [
            ("--reason|x|--reject|1.5", "error: --reason \"x\" stands behind no --reject"),
            ("--reject|1.5|--reason|x|--reason|y", "error: --reject 1.5 has two reasons"),
            ("--approve|1.5|--reject|1.5", "error: call 1.5 is decided twice"),
            (
                "--respond|1.5|{",
                "error: --respond 1.5: \"{\" is not one JSON value: EOF while parsing an object at line 1 column 1",
            ),
            (
                "--approve|5",
                "error: invalid value '5' for '--approve <CALL>': \"5\" is not a call id, which looks like 1.2",
            ),
            ("--edit|5|{}", "error: --edit: \"5\" is not a call id, which looks like 1.2"),
        ];
        for (words, message) in cases {
            assert_eq!(read(words).unwrap_err(), message, "{words}");
        }
        assert!(read("--respond|1.5|--json").is_err());
        let token = "error: invalid value '1.5@abc' for '--approve <CALL>': \"abc\" is not a token, which has at least 16 hex digits";
        assert_eq!(read("--approve|1.5@abc").unwrap_err(), token);
    }

    #[test]
    fn a_decision_may_be_bound_to_a_token_and_to_another_tool() {
        let line = Line::try_parse_from(["x", "--approve", "1.5@0123456789ABCDEF", "--replace", "1.6", "note", "{}"]);
        let [approved, replaced] = <[Decided; 2]>::try_from(line.unwrap().decisions.0).unwrap();
        assert_eq!((approved.call, approved.token.as_deref()), (id(5), Some("0123456789abcdef")));
        let argument = Value::Object(chrysalid::Object::default());
        assert_eq!(replaced.decision, Decision::EditCall { name: "note".into(), argument });
    }
}

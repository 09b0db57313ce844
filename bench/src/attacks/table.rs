//! The attacks as a Markdown table for people and as JSON for what compares runs.

use std::fmt::{self, Write as _};

use serde_json::{Map, Value, json};

use super::judgement::{Judgement, MOST_TIME, most_memory};
use super::list::Kind;
use super::peer::Peer;
use super::watch::{End, Sighting};
use super::{Options, Row};

pub(crate) fn markdown(rows: &[Row], peers: &[Peer]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_ours(&mut text, rows);
    if !peers.is_empty() {
        let _ = write_peers(&mut text, rows, peers);
    }
    let _ = write_summary(&mut text, rows, peers);
    text
}

fn write_ours(text: &mut String, rows: &[Row]) -> fmt::Result {
    for kind in Kind::ALL {
        let most = most_memory(kind);
        writeln!(text, "\n| {} | ended by | CPU ÷ limit | memory ÷ limit | wall s | session |", kind.name())?;
        writeln!(text, "|---|---|---:|---:|---:|---|")?;
        writeln!(text, "| *at most* | | *{MOST_TIME:.2}* | *{most:.2}* | | *lives, kept* |")?;
        for row in rows.iter().filter(|row| row.attack.kind == kind) {
            let ours = &row.ours;
            write!(text, "| {} | {} ", row.attack.name, ends(ours))?;
            write!(text, "| {} ", marked(ours.cpu(), MOST_TIME))?;
            write!(text, "| {} ", marked(ours.memory(), most))?;
            writeln!(text, "| {:.2} | {} |", ours.wall(), session(ours))?;
        }
    }
    Ok(())
}

fn write_peers(text: &mut String, rows: &[Row], peers: &[Peer]) -> fmt::Result {
    writeln!(text)?;
    write!(text, "| attack | Chrysalid ")?;
    peers.iter().try_for_each(|peer| write!(text, "| {} ", peer.name))?;
    writeln!(text, "|\n|---|---{}|", "|---".repeat(peers.len()))?;
    rows.iter().try_for_each(|row| writeln!(text, "{}", line(row)))
}

/// One attack on all hosts, as a line of the table.
pub(crate) fn line(row: &Row) -> String {
    let ours = std::iter::once(cell(&row.ours, Counted::Cpu));
    let cells = ours.chain(row.theirs.iter().map(|theirs| cell(theirs, Counted::Either)));
    format!("| {} | {} |", row.attack.path(), cells.collect::<Vec<_>>().join(" | "))
}

fn write_summary(text: &mut String, rows: &[Row], peers: &[Peer]) -> fmt::Result {
    writeln!(text)?;
    let ours: Vec<_> = rows.iter().map(|row| (row.attack.kind, &row.ours)).collect();
    writeln!(text, "- Chrysalid: {}", summary(&ours, Counted::Cpu))?;
    for (index, peer) in peers.iter().enumerate() {
        let theirs: Vec<_> = rows.iter().filter_map(|row| Some((row.attack.kind, row.theirs.get(index)?))).collect();
        writeln!(text, "- {}: {}", peer.name, summary(&theirs, Counted::Either))?;
    }
    Ok(())
}

/// Which time a host's limit is held against.
#[derive(Clone, Copy)]
enum Counted {
    Cpu,
    Either,
}

impl Counted {
    fn time(self, seen: &Judgement) -> f64 {
        match self {
            Self::Cpu => seen.cpu(),
            Self::Either => seen.time(),
        }
    }
}

fn summary(seen: &[(Kind, &Judgement)], counted: Counted) -> String {
    let apply: Vec<_> = seen.iter().filter(|(_, one)| !one.is_absent()).collect();
    let count = |holds: &dyn Fn(Kind, &Judgement) -> bool| apply.iter().filter(|(kind, one)| holds(*kind, one)).count();
    let all = apply.len();
    let in_time = count(&|_, one| one.ended() && counted.time(one) <= MOST_TIME);
    let in_memory = count(&|kind, one| one.memory() <= most_memory(kind));
    let died = count(&|_, one| one.ends().iter().any(|end| matches!(end, End::Died(_))));
    let killed = count(&|_, one| one.ends().iter().any(|end| matches!(end, End::RanOn | End::Grew)));
    let went_on = count(&|_, one| one.went_on());
    let lives = count(&|_, one| one.goes_on());
    let absent = seen.len() - all;
    format!(
        "ended within {MOST_TIME} × the time limit: {in_time}/{all}; memory within its bound: {in_memory}/{all}; \
         session lived on with what it held: {lives}/{all}; process died: {died}; killed: {killed}; \
         went on past a limit: {went_on}; not there: {absent}"
    )
}

fn cell(seen: &Judgement, counted: Counted) -> String {
    if seen.is_absent() {
        return if seen.ended() { "not there" } else { "did not start" }.to_owned();
    }
    let mut text = ends(seen);
    if seen.ended() {
        let _ = write!(text, " {:.2}×", counted.time(seen));
    }
    if seen.memory() > 1.5 {
        let _ = write!(text, ", {:.1}× memory", seen.memory());
    }
    if seen.went_on() {
        text += ", **went on**";
    }
    if seen.ended() && !seen.goes_on() {
        let _ = write!(text, ", then {}", session(seen));
    }
    text
}

fn ends(seen: &Judgement) -> String {
    let ends = seen.ends();
    let texts = ends.iter().map(|end| match end {
        End::Outcome(outcome, _) => outcome.clone(),
        End::Died(how) => format!("**died** ({how})"),
        End::Unready => "did not start".to_owned(),
        End::RanOn => format!("**ran on** ({:.0} s of CPU)", seen.cpu() * super::TIME.as_secs_f64()),
        End::Grew => format!("**grew** ({:.1} s of CPU)", seen.cpu() * super::TIME.as_secs_f64()),
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn marked(is: f64, most: f64) -> String {
    if is <= most { format!("{is:.2}") } else { format!("**{is:.2}**") }
}

fn session(seen: &Judgement) -> String {
    let word = |word: &str, text: &str| match word {
        "yes" => text.to_owned(),
        "" => format!("**not {text}**"),
        how => format!("**not {text}: {how}**"),
    };
    format!("{}, {}", word(seen.lives(), "lives"), word(seen.kept(), "kept"))
}

pub(crate) fn json(rows: &[Row], options: &Options, machine: &Value) -> Value {
    let versions: Map<String, Value> =
        options.versions.iter().map(|(name, version)| (name.clone(), Value::from(version.as_str()))).collect();
    json!({
        "machine": machine,
        "versions": versions,
        "memory_limit": super::MEMORY,
        "time_limit_seconds": super::TIME.as_secs_f64(),
        "patience_seconds": options.patience.time.as_secs(),
        "attacks": rows.iter().map(|row| row_json(row, options)).collect::<Vec<_>>(),
    })
}

fn row_json(row: &Row, options: &Options) -> Value {
    let peers: Map<String, Value> =
        options.peers.iter().zip(&row.theirs).map(|(peer, seen)| (peer.name.clone(), judgement_json(seen))).collect();
    json!({
        "kind": row.attack.kind.name(),
        "name": row.attack.name,
        "most_memory": most_memory(row.attack.kind),
        "complaints": row.ours.complaints(row.attack.kind).collect::<Vec<_>>(),
        "chrysalid": judgement_json(&row.ours),
        "peers": peers,
    })
}

fn judgement_json(seen: &Judgement) -> Value {
    json!({
        "cpu_ratio": seen.cpu(),
        "time_ratio": seen.time(),
        "memory_ratio": seen.memory(),
        "report_seconds": seen.report(),
        "lives": seen.lives(),
        "kept": seen.kept(),
        "runs": seen.runs.iter().map(run_json).collect::<Vec<_>>(),
    })
}

fn run_json(run: &Sighting) -> Value {
    let (end, text) = match &run.end {
        End::Outcome(outcome, text) => (outcome.as_str(), text.as_str()),
        End::Died(how) => ("died", how.as_str()),
        End::Unready => ("unready", ""),
        End::RanOn => ("ran_on", ""),
        End::Grew => ("grew", ""),
    };
    json!({
        "end": end,
        "text": text,
        "cpu_seconds": run.cpu,
        "wall_seconds": run.wall,
        "growth_bytes": run.growth,
        "lives": run.lives,
        "kept": run.kept,
    })
}

//! `chrysalid repl`: programs one after the other in one session, typed at a terminal or read as lines from elsewhere.
//!
//! At a terminal, Ctrl-C clears the line or interrupts the program, and Ctrl-D ends. Other signals end the process as
//! usual, because only the line editor can give the terminal back. Calls that wait for a person are asked about in place;
//! whoever quits there, or gives a command, leaves the program waiting, to be saved, resumed or cancelled.

mod command;
mod editor;
mod input;
mod live;
mod nesting;
mod show;

use std::path::Path;
use std::time::SystemTime;

use chrysalid::{CallId, Decision, Engine, Heap, Outcome, Report};

use crate::arguments::ReplArguments;
use crate::exit::{Exit, Refusal};
use crate::host::KeyUse;
use crate::prompt::{Answer, decide};
use crate::report::time_text;
use crate::signals::Signals;
use command::{Command, HELP, is_command};
use input::{Input, InputAnswers, Typed};
use live::{CameBack, Live};
use show::Screen;

/// Runs programs until the input ends.
pub(crate) async fn repl(arguments: &ReplArguments) -> Result<Exit, Refusal> {
    let mut repl = Repl::open(arguments)?;
    while repl.next().await? == Next::Another {}
    Ok(repl.leave())
}

struct Repl<'a> {
    arguments: &'a ReplArguments,
    engine: Engine,
    live: Live,
    input: Input,
    signals: Signals,
    screen: Screen,
    /// A command that was given in place of an answer.
    queued: Option<String>,
    /// Whether the last program failed, or was not run.
    failed: bool,
}

/// Whether there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Another,
    End,
}

/// What became of a program that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Over,
    LeftOpen,
}

impl<'a> Repl<'a> {
    fn open(arguments: &'a ReplArguments) -> Result<Self, Refusal> {
        let (engine, keyless) = match arguments.host.engine(KeyUse::Seal) {
            // Nobody named a key, and a session needs none.
            Err(refusal) if arguments.host.key_file.is_none() => (arguments.host.engine(KeyUse::None)?, Some(refusal)),
            engine => (engine?, None),
        };
        let live = Live::fresh(arguments, &engine)?;
        let input = Input::open(live.session.limits().source_size)?;
        let signals = if input.is_terminal() { Signals::of_keyboard() } else { Signals::listen() };
        let screen = Screen::new(input.is_terminal());
        if input.is_terminal() {
            screen.aside(&format!("chrysalid {}; .help lists the commands", env!("CARGO_PKG_VERSION")));
        }
        if let Some(refusal) = keyless {
            screen.note(&format!("sessions cannot be saved: {refusal}"));
        }
        if let Some(note) = arguments.host.rule_of_two_note(live.session.capabilities())? {
            screen.note(&note);
        }
        Ok(Self { arguments, engine, live, input, signals, screen, queued: None, failed: false })
    }

    /// Reads a program or a command, and does it.
    async fn next(&mut self) -> Result<Next, Refusal> {
        if let Some(command) = self.queued.take() {
            return self.command(&command).await;
        }
        let prompt = if self.live.is_waiting() { "paused> " } else { "> " };
        match self.input.program(prompt, &mut self.signals).await? {
            Typed::End => Ok(Next::End),
            Typed::Text(text) if is_command(&text) => self.command(&text).await,
            Typed::Text(text) if !text.trim().is_empty() => self.program(&text).await,
            Typed::Text(_) | Typed::Cleared => Ok(Next::Another),
        }
    }

    async fn program(&mut self, source: &str) -> Result<Next, Refusal> {
        self.failed = true;
        if self.live.is_waiting() {
            show::error("a program waits: .resume goes on with it, .cancel ends it");
            return Ok(Next::Another);
        }
        match self.live.start(source) {
            Ok(()) => self.go_on().await,
            Err(refusal) => {
                show::error(&refusal.message);
                Ok(Next::Another)
            }
        }
    }

    async fn command(&mut self, line: &str) -> Result<Next, Refusal> {
        let done = match Command::parse(line) {
            Ok(Command::Exit) => return Ok(Next::End),
            Ok(Command::Resume) if self.live.is_waiting() => return self.resume().await,
            Ok(Command::Cancel) if self.live.is_waiting() => {
                let came_back = self.live.cancel(&mut self.signals).await;
                self.came_back(came_back);
                return Ok(Next::Another);
            }
            Ok(Command::Load(file)) => match self.load(&file) {
                Ok(()) if self.live.is_waiting() => return self.resume().await,
                loaded => loaded,
            },
            Ok(command) => self.simple_command(command),
            Err(message) => Err(Refusal::usage(message)),
        };
        if let Err(refusal) = done {
            show::error(&refusal.message);
        }
        Ok(Next::Another)
    }

    fn simple_command(&mut self, command: Command) -> Result<(), Refusal> {
        let session = &self.live.session;
        match command {
            Command::Help => show::text(HELP),
            Command::Tools(None) => show::text(&show::tools(session.capabilities())),
            Command::Tools(Some(name)) => show::text(&show::tool(session.capabilities(), &name)?),
            Command::Calls => show::text(&show::calls(&self.live.calls())),
            Command::Limits => {
                let made = self.live.calls().len();
                show::text(&show::limits(session.limits(), self.live.cpu_used, made));
            }
            Command::Clear => {
                let fresh = Live::fresh(self.arguments, &self.engine)?;
                if self.live.is_waiting() && self.live.held_by().is_none() {
                    show::warning("the program that waited was not saved and ends here");
                }
                self.live = fresh;
            }
            Command::Save(file) => {
                self.live.save(&file)?;
                self.screen.aside(&format!("saved: {}", file.display()));
            }
            Command::Resume | Command::Cancel => return Err(Refusal::usage("no program waits")),
            Command::Exit | Command::Load(_) => {}
        }
        Ok(())
    }

    /// Takes a saved session in place of this one.
    fn load(&mut self, file: &Path) -> Result<(), Refusal> {
        if self.live.is_waiting() && self.live.held_by().is_none() {
            let message = "a program waits and is not saved: .save FILE keeps it, .cancel ends it";
            return Err(Refusal::usage(message));
        }
        self.live = Live::load(self.arguments, file)?;
        self.screen.aside(&format!("loaded: {}", file.display()));
        Ok(())
    }

    async fn resume(&mut self) -> Result<Next, Refusal> {
        match self.attend().await? {
            Wait::Over => self.go_on().await,
            Wait::LeftOpen => Ok(Next::Another),
        }
    }

    /// Lets the program go on to its end, or to a pause that is left open.
    async fn go_on(&mut self) -> Result<Next, Refusal> {
        loop {
            let came_back = self.live.go_on(&mut self.signals).await;
            // Without a terminal there is nobody who only meant the program.
            let signalled = came_back.as_ref().is_ok_and(|came_back| came_back.signalled) && !self.input.is_terminal();
            if signalled {
                self.came_back(came_back);
                return Ok(Next::End);
            }
            if !self.came_back(came_back) || self.attend().await? == Wait::LeftOpen {
                return Ok(Next::Another);
            }
        }
    }

    /// Shows what a program came back with; whether it waits.
    fn came_back(&mut self, came_back: Result<CameBack, Refusal>) -> bool {
        let came_back = match came_back {
            Ok(came_back) => came_back,
            Err(refusal) => {
                self.failed = true;
                show::error(&refusal.message);
                return false;
            }
        };
        self.outcome(&came_back.outcome);
        came_back.notes.iter().for_each(|note| self.screen.note(note));
        matches!(came_back.outcome, Outcome::Paused(_))
    }

    fn outcome(&mut self, outcome: &Outcome) {
        let notes = match outcome {
            Outcome::Paused(pause) => &pause.notes,
            Outcome::Done(ended) | Outcome::Failed(ended) => &ended.notes,
        };
        let report = Report::of(outcome);
        show::value(&report);
        // The value was shown, whether it has a JSON form or not.
        for note in notes {
            self.screen.note(note);
        }
        if let Outcome::Done(ended) | Outcome::Failed(ended) = outcome {
            self.failed = report.error.is_some();
            report.error.iter().for_each(show::failure);
            if ended.heap == Heap::Lost {
                self.screen.note(".clear begins with a fresh session");
            }
        }
    }

    /// Asks for what the program waits for, or waits until it goes on by itself.
    async fn attend(&mut self) -> Result<Wait, Refusal> {
        let session = &mut self.live.session;
        let wait = if session.pending().iter().any(|call| !call.decided) {
            let mut answers = InputAnswers::new(&mut self.input, &mut self.signals);
            let decided = &mut self.live.decided;
            let who = self.arguments.who.reviewer();
            let taken = |call: CallId, decision: &Decision| decided.push((call, decision.clone()));
            let answer = decide(session, &mut answers, &who, taken).await;
            self.queued = answers.command;
            if let Some(refusal) = answers.refused {
                return Err(refusal);
            }
            if answer == Answer::Decided { Wait::Over } else { Wait::LeftOpen }
        } else if let (true, Some(at)) = (session.pending().is_empty(), self.live.wake_at) {
            self.sit_out(at).await
        } else {
            Wait::Over
        };
        if wait == Wait::LeftOpen {
            self.failed = true;
            self.screen.note(&match self.live.held_by() {
                Some(file) => format!("left open in {}: .resume goes on with it, .cancel ends it", file.display()),
                None => "left open: .resume goes on with it, .save FILE keeps it, .cancel ends it".to_owned(),
            });
        }
        Ok(wait)
    }

    async fn sit_out(&mut self, until: SystemTime) -> Wait {
        let left = until.duration_since(SystemTime::now()).unwrap_or_default();
        if !left.is_zero() {
            self.screen.note(&format!("paused until {}", time_text(until).as_deref().unwrap_or("later")));
        }
        tokio::select! {
            () = tokio::time::sleep(left) => Wait::Over,
            () = self.signals.received() => {
                if !self.input.is_terminal() {
                    std::process::exit(130);
                }
                Wait::LeftOpen
            }
        }
    }

    fn leave(&self) -> Exit {
        if !self.live.is_waiting() {
            return if self.failed { Exit::Failed } else { Exit::Done };
        }
        match self.live.held_by() {
            Some(file) => self.screen.aside(&format!("saved: {}", file.display())),
            None => show::warning("the program that waits is not saved and ends here"),
        }
        Exit::Paused
    }
}

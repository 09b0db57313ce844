//! Fresh processes: this binary again, told by a variable to do one job instead of its tests.

use std::path::PathBuf;
use std::process::Command;

/// Which job, and the folder with its input, where its output goes as well.
const JOB: &str = "CHRYSALID_TEST_JOB";
const FOLDER: &str = "CHRYSALID_TEST_JOB_FOLDER";

/// Not a test of its own: the entry of a worker.
#[test]
fn worker_process() {
    let Some(job) = std::env::var_os(JOB) else { return };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let input = std::fs::read(folder.join("input")).unwrap();
    let output = match job.to_str().unwrap() {
        "same_result" => crate::same_result::stretch(&input),
        "slots" => crate::threads::one_slot_is_enough(),
        "soak" => crate::soak::soak(&input),
        "traps" => crate::traps::a_thousand(),
        "first_result" => crate::cases_l::first_result(),
        "flood" => crate::cases_x::flood(),
        "sessions" => crate::cases_l::sessions_come_and_go(),
        "old_turns" => crate::cases_s::old_turns(&input),
        "resume" => crate::cases_s::resume(&input),
        "fork" => crate::fork::in_the_child(),
        other => panic!("no job {other:?}"),
    };
    std::fs::write(folder.join("output"), output).unwrap();
}

/// Does a job in a process of its own.
#[track_caller]
pub(crate) fn in_fresh_process(job: &str, input: &[u8]) -> Vec<u8> {
    in_fresh_process_with(job, input, &[])
}

/// The same with these variables set.
pub(crate) fn in_fresh_process_with(job: &str, input: &[u8], variables: &[(&str, &str)]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("input"), input).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["worker::worker_process", "--exact", "--nocapture", "--test-threads=1"])
        .env(JOB, job)
        .env(FOLDER, folder.path())
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "the worker for {job} failed: {}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::read(folder.path().join("output")).unwrap()
}

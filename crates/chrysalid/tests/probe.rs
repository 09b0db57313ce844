//! scratch
use std::time::{Duration, Instant};
use crate::support::*;
use chrysalid::*;
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}
#[test]
fn probe() {
    let Ok(path) = std::env::var("PROBE") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let j: serde_json::Value = serde_json::from_str(line).unwrap();
        let limits: Vec<u64> = j.get("limits").map(|l| serde_json::from_value(l.clone()).unwrap()).unwrap_or(vec![1000]);
        for ms in limits {
            let world = World::new();
            let mut s = world.session_with(with_limits(|l| { l.cpu_time = Duration::from_millis(ms); if let Some(m) = j.get("memory") { l.memory = (m.as_u64().unwrap() as usize) << 20; } }));
            for p in j["programs"].as_array().unwrap() {
                let p = p.as_str().unwrap();
                let (c0, w0) = (cpu(), Instant::now());
                if let Err(e) = s.start(p) { println!("{ms}: start {e}"); continue }
                let (c1, w1) = (cpu(), Instant::now());
                let h = world.drive(&mut s);
                let (c2, w2) = (cpu(), Instant::now());
                let desc = match h { Halt::Ended(e) => { let d = match &e.result { Ok(v) => format!("ok {}", v.to_string().chars().take(400).collect::<String>()), Err(f) => format!("{:?} {}", f.kind, f.to_string().chars().take(150).collect::<String>()) }; format!("{d} {:?} notes {:?} logs {:?}", e.heap, e.notes, e.logs.iter().take(3).map(|l| l.text.chars().take(100).collect::<String>()).collect::<Vec<_>>()) } Halt::Paused(p) => format!("paused {:?} {:?}", shown(&p), p.wake_at) };
                let ratio = (c2 - c1).as_secs_f64() * 1000.0 / ms as f64; let g = s.cpu_time().as_secs_f64() * 1000.0 / ms as f64;
                println!("{ms} guest {g:.3} ratio {ratio:.3} start {:?} cpu {:?} wall {:?} | {} | {} paid {:?}", c1 - c0, c2 - c1, w2 - w1.max(w0), p.chars().take(90).collect::<String>().replace('\n', " "), desc, world.paid().len());
            }
        }
    }
}

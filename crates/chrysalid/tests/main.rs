//! smoke
use chrysalid::*;
use std::time::SystemTime;
#[tokio::test(flavor = "current_thread")]
async fn smoke() {
    let engine = Engine::builder().pool_slots(8).key(Key::from_bytes([7; 32])).build().unwrap();
    let mut s = engine.session(&Capabilities::none()).unwrap();
    for src in [
        "1+1",
        "let x = 5; x",
        "const x = 6; [x, {a: 1n}, new Map([[1,2]])]",
        "x",
        "await new Promise(r => setTimeout(r, 20)); 'late'",
        "console.log('hi', {a:1}); throw new TypeError('bad')",
        "while(true){}",
        "x",
        "function f(){f()} f()",
        "await new Promise(()=>{})",
        "Promise.reject(new Error('lost')); 1",
        "syntax error here",
        "Math.random() !== Math.random()",
        "(() => 5)",
        "let i = setInterval(()=>{}, 10); 3",
        "new Array(1e9).join()",
        "x",
    ] {
        let t = std::time::Instant::now();
        let o = s.run(src, &TokioTimer).await;
        println!("{src}  ({:?}) => {:?}", t.elapsed(), o);
    }
    let gate =
        Capability::new("gate", |_: std::collections::HashMap<String, String>| async { Ok::<_, ToolError>("yes") })
            .approval(Approval::Ask);
    let echo = Capability::new("echo", |v: serde_json::Value| async move { Ok::<_, ToolError>(v) });
    let tools = Capabilities::new([gate, echo]).unwrap();
    let mut s = engine.session(&tools).unwrap();
    let o = s.run("let a; const e = await tools.echo({v: 1}); try { a = await tools.gate({q: 'ok?'}) } catch (e) { a = 'skipped' } [e, a]", &TokioTimer).await;
    println!("{o:?}");
    let t = std::time::Instant::now();
    let bytes = s.snapshot().unwrap();
    println!("snapshot {} in {:?}", bytes.len(), t.elapsed());
    let t = std::time::Instant::now();
    let mut s = engine.restore(&bytes, &tools, Restore::Resume).unwrap();
    println!("restore in {:?}", t.elapsed());
    s.decide(s.pending()[0].id, Decision::Approve).unwrap();
    let o = s.resume(&TokioTimer).await;
    println!("{o:?}");
    let t = std::time::Instant::now();
    for _ in 0..1000 {
        let mut s = engine.session(&Capabilities::none()).unwrap();
        s.start("1+1").unwrap();
        let _ = s.step(SystemTime::now()).unwrap();
    }
    println!("fresh+1+1+drop {:?}", t.elapsed() / 1000);
    let mut s = engine.session(&Capabilities::none()).unwrap();
    let t = std::time::Instant::now();
    for _ in 0..1000 {
        s.start("1").unwrap();
        let _ = s.step(SystemTime::now()).unwrap();
    }
    println!("noop {:?}", t.elapsed() / 1000);
}

//! What a model sees: the description of the interpreter, a program that fails, its report, and the program mended from
//! that report alone. Run by `cargo xtask test`.
//!
//! ```text
//! cargo run --release --example model_tool --features tokio
//! ```

use chrysalid::{
    Capabilities, Capability, Effects, Engine, InterpreterOptions, Report, ReportStyle, TokioTimer, ToolError,
    interpreter_description,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize)]
struct Query {
    city: String,
    limit: Option<usize>,
}

#[derive(Serialize)]
struct Order {
    city: &'static str,
    total: f64,
}

fn orders() -> Capability {
    Capability::new("orders.search", |query: Query| async move {
        let all = [("Lyon", 12.5), ("Lyon", 30.0), ("Porto", 8.0)];
        let found = all.into_iter().filter(|(city, _)| *city == query.city).take(query.limit.unwrap_or(10));
        Ok::<_, ToolError>(found.map(|(city, total)| Order { city, total }).collect::<Vec<_>>())
    })
    .description("Finds orders by city.")
    .effects(Effects::PRIVATE)
    .input_schema(json!({
        "type": "object",
        "properties": { "city": { "type": "string" }, "limit": { "type": "integer", "description": "most rows" } },
        "required": ["city"],
    }))
    .output_schema(json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": { "city": { "type": "string" }, "total": { "type": "number" } },
            "required": ["city", "total"],
        },
    }))
}

/// What two turns of a model could look like.
const TURNS: [&str; 2] = [
    "const rows: Row[] = await tools.orders.serch({ city: \"Lyon\" });\nrows.length",
    "const rows = await tools.orders.search({ city: \"Lyon\" });\n\
     console.log(`${rows.length} orders`);\n\
     rows.reduce((sum, row) => sum + row.total, 0)",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Capabilities::new([orders()])?;
    let engine = Engine::builder().pool_slots(0).build()?;
    println!("{}", interpreter_description(tools.catalogue(), engine.limits(), &InterpreterOptions::default()));

    let mut session = engine.session(&tools)?;
    for program in TURNS {
        let outcome = session.run(program, &TokioTimer).await?;
        println!("{}\n", Report::of(&outcome).text(&ReportStyle::default()));
    }
    Ok(())
}

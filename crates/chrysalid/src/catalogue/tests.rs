//! The text of whole catalogues.

mod budget;
mod properties;
mod signatures;

use serde_json::Value as Json;

use super::{Catalogue, CatalogueBudget, Tool};

fn tool(name: &str, schema: Json) -> Tool {
    Tool {
        name: name.to_owned(),
        description: String::new(),
        schema: Some(schema),
        returns: None,
        asks: false,
        gives_handle: false,
        global: false,
    }
}

fn described(name: &str, description: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: None,
        returns: None,
        asks: false,
        gives_handle: false,
        global: false,
    }
}

fn full(tools: Vec<Tool>) -> String {
    let budget = CatalogueBudget { characters: usize::MAX, ..CatalogueBudget::default() };
    Catalogue::new(tools).unwrap().text(&budget)
}

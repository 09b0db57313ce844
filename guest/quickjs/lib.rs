//! Carries no code: see Cargo.toml.

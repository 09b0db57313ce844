//! Modules as the guest gets them, by the hash of their source: many sessions import the same few.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::program::Prepared;

/// Modules kept; when there are more, all are forgotten.
const KEPT: usize = 128;

/// A module that needs no more work.
#[derive(Debug)]
pub(crate) struct PreparedModule {
    pub(crate) code: Arc<str>,
    /// What it imports, as written.
    pub(crate) imports: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct ModuleCache(Mutex<HashMap<[u8; 32], Arc<PreparedModule>>>);

impl ModuleCache {
    pub(crate) fn get(&self, hash: &[u8; 32]) -> Option<Arc<PreparedModule>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    pub(crate) fn put(&self, hash: [u8; 32], prepared: Prepared) -> Arc<PreparedModule> {
        let module = Arc::new(PreparedModule { code: prepared.code.into(), imports: prepared.imports });
        let mut modules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if modules.len() >= KEPT {
            modules.clear();
        }
        modules.insert(hash, module.clone());
        module
    }
}

//! Where the types of a capability's closure are erased: a value in, a future of a value out.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::{CallContext, CallResult, ToolError};
use crate::value::{Value, from_value, to_value};

pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = CallResult> + Send>>;

pub(crate) trait Handler: Send + Sync {
    fn invoke(&self, context: CallContext, argument: Value) -> HandlerFuture;
}

struct Erased<F>(F);

impl<F> Handler for Erased<F>
where
    F: Fn(CallContext, Value) -> HandlerFuture + Send + Sync,
{
    fn invoke(&self, context: CallContext, argument: Value) -> HandlerFuture {
        (self.0)(context, argument)
    }
}

pub(crate) fn erase<A, R, E, F, Fut>(function: F) -> Arc<dyn Handler>
where
    A: DeserializeOwned + Send + 'static,
    R: Serialize + 'static,
    E: Into<ToolError> + 'static,
    F: Fn(CallContext, A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = std::result::Result<R, E>> + Send + 'static,
{
    Arc::new(Erased(move |context: CallContext, argument: Value| {
        // Reading runs code of the argument's own type.
        match std::panic::catch_unwind(AssertUnwindSafe(|| read::<A>(argument))) {
            Ok(Ok(argument)) => guarded(|| finish(function(context, argument))),
            Ok(Err(error)) => Box::pin(std::future::ready(Err(error))),
            Err(_) => Box::pin(std::future::ready(Err(panicked()))),
        }
    }))
}

pub(crate) fn erase_raw<F, Fut>(function: F) -> Arc<dyn Handler>
where
    F: Fn(CallContext, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = CallResult> + Send + 'static,
{
    Arc::new(Erased(move |context: CallContext, argument: Value| guarded(|| function(context, argument))))
}

/// The tool's future, begun and polled so that a panic of it is its failure.
fn guarded<Fut: Future<Output = CallResult> + Send + 'static>(begin: impl FnOnce() -> Fut) -> HandlerFuture {
    match std::panic::catch_unwind(AssertUnwindSafe(begin)) {
        Ok(future) => Box::pin(Guarded { future: Box::pin(future) }),
        Err(_) => Box::pin(std::future::ready(Err(panicked()))),
    }
}

fn panicked() -> ToolError {
    ToolError::new("the tool panicked")
}

async fn finish<R: Serialize + 'static, E: Into<ToolError>>(
    future: impl Future<Output = std::result::Result<R, E>>,
) -> CallResult {
    let result = future.await.map_err(Into::into)?;
    to_value(&result).map_err(|error| ToolError::new(format!("result cannot cross: {error}")))
}

fn read<A: DeserializeOwned>(argument: Value) -> std::result::Result<A, ToolError> {
    let bare = matches!(&argument, Value::Object(object) if object.is_empty());
    from_value(argument).or_else(|error| {
        // A function without an argument reads nothing.
        let nothing = if bare { from_value(Value::Null).ok() } else { None };
        nothing.ok_or_else(|| ToolError::input(error.to_string()))
    })
}

/// Turns a panic of the tool into its failure, so that it does not take the host's loop with it.
struct Guarded<T> {
    future: Pin<Box<dyn Future<Output = T> + Send>>,
}

impl Future for Guarded<CallResult> {
    type Output = CallResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CallResult> {
        std::panic::catch_unwind(AssertUnwindSafe(|| self.future.as_mut().poll(cx)))
            .unwrap_or_else(|_| Poll::Ready(Err(panicked())))
    }
}

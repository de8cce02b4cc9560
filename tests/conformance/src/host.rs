//! What the host gives: time.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use sandwire::io::Env;

/// The host.
pub(crate) fn env() -> Arc<dyn Env> {
    #[cfg(target_family = "wasm")]
    return sandwire_web::WebEnv::shared();
    #[cfg(not(target_family = "wasm"))]
    sandwire::NativeEnv::shared()
}

/// Waits.
pub(crate) async fn pause(time: Duration) {
    let env = env();
    let mut timer = env.timer();
    let end = env.now().after(time.as_millis().try_into().unwrap_or(u64::MAX));
    poll_fn(|cx| timer.poll(end, cx)).await;
}

//! One typed tool, as an edge isolate: the server that is weighed. With the feature `worker` it is a web worker too.
#![cfg(target_family = "wasm")]

use sandwire_server::{
    RegistrationError, Schema, Server,
    http::{Guard, HttpEntry},
};

#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// What to add.
#[derive(serde::Deserialize, Schema)]
struct Args {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
}

fn server() -> Result<Server, RegistrationError> {
    Server::builder("adder", env!("CARGO_PKG_VERSION"))
        .tool("add", "Adds two numbers.", |Args { a, b }: Args| a + b)
        .build()
}

#[cfg(feature = "worker")]
sandwire_web::export!(server, |server, env| HttpEntry::guarded(server, env, Guard::open()));

#[cfg(not(feature = "worker"))]
sandwire_web::export!(server, only | server, env | HttpEntry::guarded(server, env, Guard::open()));

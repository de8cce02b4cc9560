//! The wasm side of the sandwire npm package.

//! The wasm side of the sandwire npm package.

#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// probe
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn probe(text: &str) -> String {
    js_sys::Date::now();
    text.to_uppercase()
}

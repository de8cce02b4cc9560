#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sandwire_server::fuzzing::http_sessions(data));

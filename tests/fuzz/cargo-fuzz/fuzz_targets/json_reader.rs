#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sandwire_json::fuzzing::reader(data));

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sandwire_schema::fuzzing::schema(data));

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sandwire_proto::server::fuzzing::machine(data));

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sandwire_proto::fuzzing::client_machine(data));

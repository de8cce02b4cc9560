#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sandwire_skills::fuzzing::front_matter(data));

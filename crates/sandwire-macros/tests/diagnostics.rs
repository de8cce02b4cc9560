//! What a mistake is answered with. `TRYBUILD=overwrite cargo test -p sandwire-macros` accepts new texts.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

//! The fuzz body on inputs that the fuzzer begins with.
#![allow(missing_docs)]

#[test]
fn the_fuzz_body_holds() {
    for input in [
        &b"{\"type\":\"object\",\"properties\":{\"a\":{\"multipleOf\":0.5}},\"unevaluatedProperties\":false}\n{\"a\":1.0}"[..],
        b"{\"uniqueItems\":true,\"items\":{\"enum\":[1,\"x\"]}}\n[\"x\",1,1.0]",
        b"{\"not\":false}\n{",
        b"{\"$ref\":\"#\"}\n1",
        b"\xff\n",
    ] {
        sandwire_schema::fuzzing::schema(input);
    }
}

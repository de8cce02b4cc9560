//! Whatever is done to a client, it does not panic, and every call ends exactly once.

use proptest::prelude::*;
use sandwire_proto::fuzzing;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_list_of_inputs_panics_or_loses_a_call(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        fuzzing::client_machine(&bytes);
    }

    #[test]
    fn no_text_breaks_header_rules(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        fuzzing::headers(&bytes);
    }

    #[test]
    fn no_stream_depends_on_where_it_is_cut(bytes in prop::collection::vec(prop::sample::select(
        b"data: id:retry:event\n\r\n\n:17x\xef\xbb\xbf\0".to_vec()), 0..200)) {
        fuzzing::sse(&bytes);
    }
}

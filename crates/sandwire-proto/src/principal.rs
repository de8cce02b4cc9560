use sandwire_json::Raw;

/// Who a request comes from, as whoever authenticated it says.
///
/// ```
/// use sandwire_proto::Principal;
/// use sandwire_types::Raw;
///
/// let mut principal = Principal::new("https://issuer.example|alice");
/// principal.claims = Raw::from_valid(r#"{"scope":"files:read"}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct Principal {
    /// Names one party among all that there are: the issuer belongs into it where there are several. Sessions, and what
    /// a client holds of a call that asked for input, work for the party with this id only.
    pub id: Box<str>,
    /// What else is known of the party: an object.
    pub claims: Raw,
}

impl Principal {
    /// The party of this name, of which nothing else is known.
    #[must_use]
    pub fn new(id: impl Into<Box<str>>) -> Self {
        Self { id: id.into(), claims: Raw::object() }
    }
}

//! What a function is a handler for.

use sandwire_io::MaybeSend;
use std::sync::Arc;

/// A kind of handler.
pub trait Kind: sealed::Sealed + 'static {
    #[doc(hidden)]
    type About: MaybeSend + 'static;
}

/// Handlers of `tools/call`.
#[derive(Clone, Copy, Debug)]
pub struct Tool(());

/// Handlers of `resources/read`.
#[derive(Clone, Copy, Debug)]
pub struct Resource(());

/// Handlers of `prompts/get`.
#[derive(Clone, Copy, Debug)]
pub struct Prompt(());

/// Handlers of `completion/complete`.
#[derive(Clone, Copy, Debug)]
pub struct Completion(());

/// Handlers of the methods of extensions.
#[derive(Clone, Copy, Debug)]
pub struct Method(());

impl Kind for Tool {
    type About = ();
}

impl Kind for Resource {
    type About = Address;
}

impl Kind for Prompt {
    type About = ();
}

impl Kind for Completion {
    type About = ();
}

impl Kind for Method {
    type About = ();
}

/// What was read, and of which type it was said to be.
#[derive(Clone, Debug)]
pub struct Address {
    pub(crate) uri: Arc<str>,
    pub(crate) mime_type: Option<Arc<str>>,
}

impl Address {
    /// The address.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The type the resource was registered with.
    pub fn mime_type(&self) -> Option<&str> {
        self.mime_type.as_deref()
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Tool {}
    impl Sealed for super::Resource {}
    impl Sealed for super::Prompt {}
    impl Sealed for super::Completion {}
    impl Sealed for super::Method {}
}

//! Plain functions as handlers: sync or async, with or without arguments, with or without a context.

use crate::context::Context;
use crate::kind::Kind;
use crate::schema::{Field, Node, Schema};
use sandwire_io::{Answer, BoxFuture, MaybeSend, MaybeSync};
use sandwire_json::Error;
use sandwire_types::{ErrorObject, Reply};
use serde::de::DeserializeOwned;
use std::future::Future;
use std::sync::Arc;

/// What an answered request carries.
pub(crate) type Answered = Result<Reply, ErrorObject>;

/// What a function for a tool, a resource, a prompt or a completion may return.
///
/// `K` says which of the four it is: see [`IntoToolResult`](crate::IntoToolResult),
/// [`IntoResource`](crate::IntoResource), [`IntoPrompt`](crate::IntoPrompt) and
/// [`IntoCompletion`](crate::IntoCompletion).
#[diagnostic::on_unimplemented(
    message = "a handler of this kind cannot return `{Self}`",
    label = "this is returned",
    note = "what it may return is listed in the documentation of `IntoToolResult`, `IntoResource`, `IntoPrompt` and \
            `IntoCompletion`"
)]
pub trait Returned<K: Kind> {
    #[doc(hidden)]
    fn answer(self, about: &K::About) -> Answered;
}

/// The arguments of a function: a struct, or nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a handler's arguments",
    label = "not a struct with a schema",
    note = "derive both traits: `#[derive(serde::Deserialize, sandwire_server::Schema)]`"
)]
pub trait Arguments: Sized + MaybeSend + 'static {
    #[doc(hidden)]
    const NODE: &'static Node;
    #[doc(hidden)]
    const TEXT: Option<&'static str>;
    #[doc(hidden)]
    fn decode(text: &str) -> Result<Self, Error>;
}

impl<T: DeserializeOwned + Schema + MaybeSend + 'static> Arguments for T {
    const NODE: &'static Node = T::NODE;
    const TEXT: Option<&'static str> = T::INPUT;
    fn decode(text: &str) -> Result<Self, Error> {
        sandwire_json::serde::from_str(text)
    }
}

const NO_FIELDS: &[Field] = &[];

impl Arguments for () {
    const NODE: &'static Node = &Node::Object { fields: NO_FIELDS, closed: true };
    const TEXT: Option<&'static str> = Some(r#"{"type":"object","additionalProperties":false}"#);
    fn decode(_: &str) -> Result<Self, Error> {
        Ok(())
    }
}

/// A function that handles a request of kind `K`.
///
/// Implemented for `Fn(Args) -> R`, `Fn(Args, &Context) -> R` and both without `Args`; for the same as `async fn` or
/// async closure; and for `Fn(Args, Context) -> impl Future`, which async closures that capture something need. `M`
/// only tells these forms apart.
#[diagnostic::on_unimplemented(
    message = "this function cannot be a handler",
    label = "not a handler",
    note = "it may take one struct of arguments that implements `serde::Deserialize` and `Schema`, and after it `&Context`",
    note = "it returns what is listed at `IntoToolResult`, `IntoResource`, `IntoPrompt` or `IntoCompletion`, or a future of it",
    note = "where there are threads, the function is `Send` and `Sync`, and its future is `Send`; `Local` runs what is not",
    note = "a function with several parameters becomes a handler by an attribute: `#[tool]`, `#[resource(\"..\")]`, `#[prompt]`"
)]
pub trait Function<K: Kind, M>: MaybeSend + MaybeSync + 'static {
    /// Its arguments; `()` when it has none.
    type Arguments: Arguments;
    /// What it returns.
    type Output: Returned<K>;
    #[doc(hidden)]
    const CONTEXT: bool;
    #[doc(hidden)]
    fn call(this: &Arc<Self>, arguments: Self::Arguments, context: Context, about: K::About) -> Answer;
}

macro_rules! forms {
    ($($name:ident)+) => {$(
        #[doc(hidden)]
        #[derive(Debug)]
        pub struct $name(());
    )+};
}

forms!(Nullary Unary InContext UnaryInContext AsyncNullary AsyncUnary AsyncInContext AsyncUnaryInContext);
forms!(AsyncOwningContext AsyncUnaryOwningContext);

macro_rules! ready {
    ($($form:ident [$($type:ident)?] $arguments:ty, Fn($($parameter:ty),*), $takes:literal,
       |$this:ident, $given:pat_param, $context:pat_param| $run:expr;)*) => {$(
        impl<K: Kind, F, R, $($type: Arguments)?> Function<K, ($form, $($type,)? R)> for F
        where
            F: Fn($($parameter),*) -> R + MaybeSend + MaybeSync + 'static,
            R: Returned<K>,
        {
            type Arguments = $arguments;
            type Output = R;
            const CONTEXT: bool = $takes;
            fn call($this: &Arc<Self>, $given: $arguments, $context: Context, about: K::About) -> Answer {
                Answer::Ready($run.answer(&about))
            }
        }
    )*};
}

ready! {
    Nullary [] (), Fn(), false, |this, (), _| this();
    Unary [A] A, Fn(A), false, |this, given, _| this(given);
    InContext [] (), Fn(&Context), true, |this, (), context| this(&context);
    UnaryInContext [A] A, Fn(A, &Context), true, |this, given, context| this(given, &context);
}

macro_rules! later {
    ($($form:ident [$($type:ident)?] $arguments:ty, Fn($($parameter:ty),*), $takes:literal,
       |$this:ident, $given:pat_param, $context:pat_param| $run:expr;)*) => {$(
        impl<K: Kind, F, T, $($type: Arguments)?> Function<K, ($form, $($type,)? T)> for F
        where
            F: Fn($($parameter),*) -> T + MaybeSend + MaybeSync + 'static,
            T: Future<Output: Returned<K>> + MaybeSend + 'static,
        {
            type Arguments = $arguments;
            type Output = T::Output;
            const CONTEXT: bool = $takes;
            fn call($this: &Arc<Self>, $given: $arguments, $context: Context, about: K::About) -> Answer {
                let running = $run;
                Answer::Pending(Box::pin(async move { running.await.answer(&about) }))
            }
        }
    )*};
}

later! {
    AsyncNullary [] (), Fn(), false, |this, (), _| this();
    AsyncUnary [A] A, Fn(A), false, |this, given, _| this(given);
    AsyncOwningContext [] (), Fn(Context), true, |this, (), context| this(context);
    AsyncUnaryOwningContext [A] A, Fn(A, Context), true, |this, given, context| this(given, context);
}

/// An async function that borrows its context.
#[doc(hidden)]
pub trait Borrowing<'a, A> {
    type Output;
    type Future: Future<Output = Self::Output> + MaybeSend + 'a;
    fn start(&self, arguments: A, context: &'a Context) -> Self::Future;
}

impl<'a, F, T> Borrowing<'a, ()> for F
where
    F: Fn(&'a Context) -> T,
    T: Future + MaybeSend + 'a,
{
    type Output = T::Output;
    type Future = T;
    fn start(&self, (): (), context: &'a Context) -> T {
        self(context)
    }
}

impl<'a, F, A, T> Borrowing<'a, (A,)> for F
where
    F: Fn(A, &'a Context) -> T,
    T: Future + MaybeSend + 'a,
{
    type Output = T::Output;
    type Future = T;
    fn start(&self, (arguments,): (A,), context: &'a Context) -> T {
        self(arguments, context)
    }
}

fn borrowing<K: Kind, F, A, R>(this: &Arc<F>, arguments: A, context: Context, about: K::About) -> Answer
where
    F: for<'a> Borrowing<'a, A, Output = R> + MaybeSend + MaybeSync + 'static,
    A: MaybeSend + 'static,
    R: Returned<K>,
{
    let this = this.clone();
    Answer::Pending(Box::pin(async move {
        let running: BoxFuture<'_, R> = Box::pin(this.start(arguments, &context));
        running.await.answer(&about)
    }))
}

impl<K: Kind, F, R> Function<K, (AsyncInContext, R)> for F
where
    F: for<'a> Borrowing<'a, (), Output = R> + MaybeSend + MaybeSync + 'static,
    R: Returned<K>,
{
    type Arguments = ();
    type Output = R;
    const CONTEXT: bool = true;
    fn call(this: &Arc<Self>, (): (), context: Context, about: K::About) -> Answer {
        borrowing::<K, _, _, _>(this, (), context, about)
    }
}

impl<K: Kind, F, A, R> Function<K, (AsyncUnaryInContext, A, R)> for F
where
    F: for<'a> Borrowing<'a, (A,), Output = R> + MaybeSend + MaybeSync + 'static,
    A: Arguments,
    R: Returned<K>,
{
    type Arguments = A;
    type Output = R;
    const CONTEXT: bool = true;
    fn call(this: &Arc<Self>, arguments: A, context: Context, about: K::About) -> Answer {
        borrowing::<K, _, _, _>(this, (arguments,), context, about)
    }
}

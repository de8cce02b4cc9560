//! Which bounds a boxed future, callback or port needs: threads exist natively, and not on wasm.

#[cfg(not(target_family = "wasm"))]
mod on_target {
    /// `Send` where there are threads.
    pub trait MaybeSend: Send {}
    impl<T: Send + ?Sized> MaybeSend for T {}

    /// `Sync` where there are threads.
    pub trait MaybeSync: Sync {}
    impl<T: Sync + ?Sized> MaybeSync for T {}

    /// A boxed future, `Send` where there are threads.
    pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

    /// A function that may be called any number of times, `Send` and `Sync` where there are threads.
    pub type Callback<A> = std::sync::Arc<dyn Fn(A) + Send + Sync>;

    /// A function that is called once, `Send` where there are threads.
    pub type OnceCallback<A> = Box<dyn FnOnce(A) + Send>;

    /// Sees the text of every message, `Send` and `Sync` where there are threads.
    pub type Observer = std::sync::Arc<dyn Fn(crate::Direction, &str) + Send + Sync>;
}

#[cfg(target_family = "wasm")]
mod on_target {
    /// `Send` where there are threads.
    pub trait MaybeSend {}
    impl<T: ?Sized> MaybeSend for T {}

    /// `Sync` where there are threads.
    pub trait MaybeSync {}
    impl<T: ?Sized> MaybeSync for T {}

    /// A boxed future, `Send` where there are threads.
    pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + 'a>>;

    /// A function that may be called any number of times, `Send` and `Sync` where there are threads.
    pub type Callback<A> = std::sync::Arc<dyn Fn(A)>;

    /// A function that is called once, `Send` where there are threads.
    pub type OnceCallback<A> = Box<dyn FnOnce(A)>;

    /// Sees the text of every message, `Send` and `Sync` where there are threads.
    pub type Observer = std::sync::Arc<dyn Fn(crate::Direction, &str)>;
}

pub use on_target::{BoxFuture, Callback, MaybeSend, MaybeSync, Observer, OnceCallback};

//! The standard library's types.

use super::{Direction, Node, Schema, bytes, length, text};
use sandwire_json::Raw;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::num;
use std::rc::Rc;
use std::sync::Arc;

macro_rules! scalars {
    ($($kind:literal $rules:literal: $($type:ty),+;)*) => {$($(
        impl Schema for $type {
            const NODE: &'static Node = &Node::Scalar { kind: $kind, rules: $rules };
            const INPUT: Option<&'static str> = {
                const LENGTH: usize = length(<$type as Schema>::NODE, Direction::Input);
                text(&bytes::<LENGTH>(<$type as Schema>::NODE, Direction::Input))
            };
            const OUTPUT: Option<&'static str> = Self::INPUT;
        }
    )+)*};
}

scalars! {
    "boolean" "": bool;
    "integer" "": i8, i16, i32, i64, isize;
    "integer" "\"minimum\":0": u8, u16, u32, u64, usize;
    "integer" "\"not\":{\"const\":0}": num::NonZeroI8, num::NonZeroI16, num::NonZeroI32, num::NonZeroI64, num::NonZeroIsize;
    "integer" "\"minimum\":1": num::NonZeroU8, num::NonZeroU16, num::NonZeroU32, num::NonZeroU64, num::NonZeroUsize;
    "number" "": f32, f64;
    "string" "\"minLength\":1,\"maxLength\":1": char;
}

impl Schema for str {
    const NODE: &'static Node = &Node::Scalar { kind: "string", rules: "" };
    const PLAIN: bool = true;
    fn plain(&self) -> Option<&str> {
        Some(self)
    }
}

impl Schema for String {
    const NODE: &'static Node = str::NODE;
    const PLAIN: bool = true;
    fn plain(&self) -> Option<&str> {
        Some(self)
    }
}

impl Schema for Raw {
    const NODE: &'static Node = &Node::Any;
}

impl Schema for serde_json::Value {
    const NODE: &'static Node = &Node::Any;
}

impl<T: Schema> Schema for Option<T> {
    const NODE: &'static Node = &Node::Nullable(T::NODE);
    const PLAIN: bool = T::PLAIN;
    fn plain(&self) -> Option<&str> {
        self.as_ref().and_then(T::plain)
    }
}

macro_rules! transparent {
    ($([$($bounds:tt)*] $type:ty;)*) => {$(
        impl<$($bounds)*> Schema for $type {
            const NODE: &'static Node = T::NODE;
            const INPUT: Option<&'static str> = T::INPUT;
            const OUTPUT: Option<&'static str> = T::OUTPUT;
            const PLAIN: bool = T::PLAIN;
            fn plain(&self) -> Option<&str> {
                (**self).plain()
            }
        }
    )*};
}

transparent! {
    [T: Schema + ?Sized] &T;
    [T: Schema + ?Sized] Box<T>;
    [T: Schema + ?Sized] Rc<T>;
    [T: Schema + ?Sized] Arc<T>;
    [T: Schema + ToOwned + ?Sized] Cow<'_, T>;
}

macro_rules! lists {
    ($($unique:literal: $([$($bounds:tt)*] $type:ty;)+)*) => {$($(
        impl<$($bounds)*> Schema for $type {
            const NODE: &'static Node = &Node::Array { items: T::NODE, length: None, unique: $unique };
        }
    )+)*};
}

lists! {
    false:
    [T: Schema] [T];
    [T: Schema] Vec<T>;
    [T: Schema] VecDeque<T>;
    true:
    [T: Schema] BTreeSet<T>;
    [T: Schema, S] HashSet<T, S>;
}

impl<T: Schema, const N: usize> Schema for [T; N] {
    const NODE: &'static Node = &Node::Array { items: T::NODE, length: Some(N), unique: false };
}

impl<K: ToString, T: Schema> Schema for BTreeMap<K, T> {
    const NODE: &'static Node = &Node::Map(T::NODE);
}

impl<K: ToString, T: Schema, S> Schema for HashMap<K, T, S> {
    const NODE: &'static Node = &Node::Map(T::NODE);
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        impl<$($name: Schema),+> Schema for ($($name,)+) {
            const NODE: &'static Node = &Node::Tuple(&[$($name::NODE),+]);
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}

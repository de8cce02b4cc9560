//! What the builders of tools, resources and prompts have in common.

/// Methods that change the noun in the field `$noun`.
macro_rules! described {
    ($handler:ident.$noun:ident) => {
        impl $handler {
            /// The name shown to people.
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.$noun.title = Some(title.into());
                self
            }

            /// Pictures for it.
            pub fn icons(mut self, icons: impl IntoIterator<Item = sandwire_types::model::Icon>) -> Self {
                self.$noun.icons = Some(icons.into_iter().collect());
                self
            }

            /// Its `_meta`, an object.
            pub fn meta(mut self, meta: sandwire_json::Raw) -> Self {
                self.$noun.meta = Some(meta);
                self
            }
        }
    };
}

/// The method that adds to the field `completions`; `$what` is what has values to propose.
macro_rules! completing {
    ($handler:ident, $what:literal) => {
        impl $handler {
            #[doc = concat!("Proposes values for ", $what, "; see [`Completing`](crate::Completing).")]
            pub fn completing<F, M>(mut self, name: &str, function: F) -> Self
            where
                F: crate::Function<crate::kind::Completion, M, Arguments = crate::Completing>,
            {
                self.completions.add(name, crate::completion::CompletionRun::completing(function));
                self
            }
        }
    };
}

pub(crate) use {completing, described};

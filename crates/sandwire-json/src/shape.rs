//! Tables that describe the members of objects, and a check of texts against them.
//!
//! A program that only has to know that a peer's text has the right shape links these tables and
//! [`check`], and no codec.

use crate::{Error, ErrorKind, Kind, Reader};

/// The members an object may have; others are allowed and unknown.
#[derive(Debug)]
pub struct Shape {
    /// The specification's name for it.
    pub name: &'static str,
    /// Its members.
    pub fields: &'static [Field],
}

/// One member of a [`Shape`].
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub key: &'static str,
    /// What its value must be.
    pub kind: Type,
    /// Whether it must be there.
    pub required: bool,
    /// The first level that has it; what a level is, the owner of the table says.
    pub since: u8,
    /// The last level that has it.
    pub until: u8,
}

impl Field {
    /// Whether the member exists at `level`.
    pub fn exists(&self, level: u8) -> bool {
        self.since <= level && level <= self.until
    }
}

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// Anything, `null` included.
    Any,
    /// A string.
    String,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A number or `null`.
    NumberOrNull,
    /// A string or an integer.
    Id,
    /// An object, whatever its members.
    AnyObject,
    /// An object of that shape.
    Object(&'static Shape),
    /// An array of such items.
    Array(&'static Type),
    /// Such an item, or an array of them.
    OneOrMany(&'static Type),
    /// An object whose members' values are such.
    Map(&'static Type),
    /// One of several objects.
    Union(&'static Union),
}

/// Objects told apart by a string member, or by which members they have. Unknown ones are allowed.
#[derive(Debug)]
pub struct Union {
    /// The member that tells them apart. If empty, an object is the first of which it has the member
    /// named by the variant's tag. A variant with an empty tag is an object without any.
    pub tag: &'static str,
    /// The known objects.
    pub variants: &'static [Variant],
}

/// One object of a [`Union`].
#[derive(Debug)]
pub struct Variant {
    /// The value of the tag.
    pub tag: &'static str,
    /// The object's shape.
    pub shape: &'static Shape,
    /// The first level that has it.
    pub since: u8,
    /// The last level that has it.
    pub until: u8,
}

impl Variant {
    /// Whether the variant exists at `level`.
    pub fn exists(&self, level: u8) -> bool {
        self.since <= level && level <= self.until
    }
}

impl Shape {
    /// The member of that name.
    pub fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.key == key)
    }
}

impl Union {
    /// Whether a member's value tells its objects apart. One that is not of the shape it names is an unknown object then.
    pub fn is_tagged(&self) -> bool {
        !self.tag.is_empty()
    }

    /// The variant of the object that `reader` stands before; `None` when it is an unknown one.
    ///
    /// # Errors
    /// When the object is malformed.
    pub fn variant(&self, reader: &Reader<'_>) -> Result<Option<&'static Variant>, Error> {
        if self.tag.is_empty() {
            for variant in self.variants {
                if variant.tag.is_empty() || reader.look_up(variant.tag)?.is_some() {
                    return Ok(Some(variant));
                }
            }
            return Ok(None);
        }
        let Some(tag) = reader.look_up(self.tag)? else {
            return Ok(self.variants.iter().find(|variant| variant.tag.is_empty()));
        };
        let mut tag_reader = Reader::new(tag);
        if tag_reader.peek()? != Kind::String {
            return Ok(None);
        }
        let tag = tag_reader.string()?;
        Ok(self.variants.iter().find(|variant| variant.tag == tag))
    }
}

/// Checks the next value against a table, leaving the reader after it.
///
/// Members that are required must be there, members that are known must be what the table says (an
/// optional one may also be `null`), everything else is only checked to be JSON.
///
/// # Errors
/// The first difference, with the member's path.
pub fn check(kind: &Type, r: &mut Reader<'_>) -> Result<(), Error> {
    match kind {
        Type::Any => r.skip(),
        Type::String => r.string().map(drop),
        Type::Bool => r.boolean().map(drop),
        Type::Number => r.number().map(drop),
        Type::NumberOrNull => match r.peek()? {
            Kind::Null => r.null(),
            _ => r.number().map(drop),
        },
        Type::Id => match r.peek()? {
            Kind::String => r.string().map(drop),
            _ => r.integer().map(drop),
        },
        Type::AnyObject => match r.peek()? {
            Kind::Object => r.skip(),
            _ => Err(r.error(ErrorKind::Type, "expected an object")),
        },
        Type::Object(shape) => check_object(shape, r),
        Type::Array(item) => r.array(&mut |r| check(item, r)),
        Type::OneOrMany(item) => match r.peek()? {
            Kind::Array => r.array(&mut |r| check(item, r)),
            _ => check(item, r),
        },
        Type::Map(value) => r.object(&mut |_, r| check(value, r)),
        Type::Union(union) => match r.peek()? {
            Kind::Object => match union.variant(r)? {
                Some(variant) if !union.is_tagged() => check_object(variant.shape, r),
                Some(variant) => {
                    let mut ahead = r.clone();
                    match check_object(variant.shape, &mut ahead) {
                        Ok(()) => *r = ahead,
                        Err(_) => r.skip()?,
                    }
                    Ok(())
                }
                None => r.skip(),
            },
            _ => Err(r.error(ErrorKind::Type, "expected an object")),
        },
    }
}

fn check_object(shape: &Shape, r: &mut Reader<'_>) -> Result<(), Error> {
    let mut seen = 0u64;
    r.object(&mut |key, r| {
        let Some(index) = shape.fields.iter().position(|field| field.key == key) else { return Ok(()) };
        let Some(field) = shape.fields.get(index) else { return Ok(()) };
        if seen & 1 << index != 0 {
            return Err(Error::duplicate(r));
        }
        seen |= 1 << index;
        if !field.required && r.peek()? == Kind::Null {
            return r.null();
        }
        check(&field.kind, r)
    })?;
    for (index, field) in shape.fields.iter().enumerate() {
        if field.required && seen & 1 << index == 0 {
            return Err(Error::missing(field.key, r));
        }
    }
    Ok(())
}

//! Whether two JSON texts say the same.

use sandwire_json::{Error, Kind, Number, Raw, Read, Reader};

/// Whether two JSON texts say the same, in whatever order their members stand.
pub(crate) fn equal(a: &Raw, b: &Raw) -> bool {
    equal_values(&mut a.reader(), &mut b.reader()).unwrap_or(false)
}

fn equal_values(a: &mut Reader<'_>, b: &mut Reader<'_>) -> Result<bool, Error> {
    let kind = a.peek()?;
    if kind != b.peek()? {
        return Ok(false);
    }
    Ok(match kind {
        Kind::Object => {
            let (a, mut b) = (members(a)?, members(b)?);
            a.len() == b.len()
                && a.iter().all(|(key, value)| {
                    let at = b.iter().position(|(other, _)| other == key);
                    at.is_some_and(|at| equal(value, &b.swap_remove(at).1))
                })
        }
        Kind::Array => {
            let (a, b) = (Vec::<Raw>::read(a)?, Vec::<Raw>::read(b)?);
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| equal(a, b))
        }
        Kind::Number => {
            let (a, b) = (Number::read(a)?, Number::read(b)?);
            match (a.as_i64(), b.as_i64()) {
                (Some(a), Some(b)) => a == b,
                (None, None) => a == b || decimal(&a.to_string()) == decimal(&b.to_string()),
                _ => false,
            }
        }
        Kind::String => a.string()? == b.string()?,
        _ => a.raw()? == b.raw()?,
    })
}

/// A number's text without the zeros that change nothing, where it is written without an exponent.
fn decimal(number: &str) -> &str {
    match number.contains('.') && !number.contains(['e', 'E']) {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

fn members(reader: &mut Reader<'_>) -> Result<Vec<(String, Raw)>, Error> {
    let mut members = Vec::new();
    reader.object(&mut |key, reader| {
        members.push((key.to_owned(), Raw::read(reader)?));
        Ok(())
    })?;
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_do_not_matter_and_values_do() {
        let same = |a: &str, b: &str| equal(&Raw::parse(a).expect("JSON"), &Raw::parse(b).expect("JSON"));
        assert!(same(r#"{"a":1,"b":[true,null]}"#, r#"{"b":[true,null],"a":1.0}"#));
        assert!(same("2.50", "2.5") && !same("2.50", "2.05"));
        assert!(same(r#""\u0041""#, r#""A""#));
        for (a, b) in [
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":1,"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"[1,2]"#, r#"[2,1]"#),
            (r#"9007199254740993"#, r#"9007199254740992"#),
            (r#""1""#, r#"1"#),
            ("true", "false"),
        ] {
            assert!(!same(a, b) && !same(b, a), "{a} {b}");
        }
    }
}

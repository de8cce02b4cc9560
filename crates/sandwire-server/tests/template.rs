//! URI templates: the examples of RFC 6570 up to level 3, and reading addresses back.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use sandwire_server::UriTemplate;

const VALUES: &[(&str, &str)] = &[
    ("var", "value"),
    ("hello", "Hello World!"),
    ("empty", ""),
    ("path", "/foo/bar"),
    ("x", "1024"),
    ("y", "768"),
    ("half", "50%"),
    ("base", "http://example.com/home/"),
];

#[test]
fn expands_the_examples_of_rfc_6570() {
    for (template, expected) in [
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{+var}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("up{+path}{var}/here", "up/foo/barvalue/here"),
        ("X{#var}", "X#value"),
        ("X{#hello}", "X#Hello%20World!"),
        ("map?{x,y}", "map?1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"),
        ("{+path,x}/here", "/foo/bar,1024/here"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"),
        ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("X{.var}", "X.value"),
        ("X{.x,y}", "X.1024.768"),
        ("{/var}", "/value"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"),
        ("{;x,y,empty}", ";x=1024;y=768;empty"),
        ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&x,y,empty}", "&x=1024&y=768&empty="),
        ("{?x,undef,y}", "?x=1024&y=768"),
    ] {
        assert_eq!(UriTemplate::parse(template).unwrap().expand(VALUES), expected, "{template}");
    }
}

#[test]
fn what_was_expanded_is_read_back() {
    for template in [
        "notes://{var}",
        "notes://{hello}/x",
        "files://{+path}",
        "files://{+path}/{x}.txt",
        "x:{x,y}",
        "x:{/var,x}/here",
        "x:a{.x,y}",
        "x:{;x,y,empty}",
        "x:{?x,y,empty}",
        "x:?fixed=yes{&x,y}",
        "x:{x}{#hello}",
        "{+base}index",
        "été://{half}",
    ] {
        let template = UriTemplate::parse(template).unwrap();
        let read = template.matches(&template.expand(VALUES)).unwrap_or_else(|| panic!("{template}"));
        let names: Vec<_> = template.variables().collect();
        assert_eq!(read.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
        for (name, value) in read {
            assert!(VALUES.contains(&(name, value.as_str())), "{template}: {name} = {value}");
        }
    }
}

#[test]
fn addresses_that_do_not_fit_are_not_read() {
    for (template, uri) in [
        ("notes://{id}", "notes://a/b"),
        ("notes://{id}", "notes://"),
        ("notes://{id}", "note://a"),
        ("notes://{id}", "notes://%zz"),
        ("notes://{id}", "notes://%ff"),
        ("notes://{id}/x", "notes://a/y"),
        ("files://{+path}", "files://a/../../etc/passwd"),
        ("files://{name}", "files://%2e%2e%2fetc"),
        ("files://{name}", "files://.."),
    ] {
        assert_eq!(UriTemplate::parse(template).unwrap().matches(uri), None, "{template} {uri}");
    }
}

#[test]
fn named_variables_may_be_missing_and_in_any_order() {
    let template = UriTemplate::parse("x://{a}{?b,c}").unwrap();
    let read = |uri| {
        template.matches(uri).unwrap().into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(read("x://1"), ["a=1"]);
    assert_eq!(read("x://1?c=3&other=4&b=2"), ["a=1", "b=2", "c=3"]);
    assert_eq!(read("x://1?"), ["a=1"]);
}

#[test]
fn malformed_templates_are_refused() {
    for (template, message) in [
        ("a{b", "a `{` without its `}`"),
        ("a}b", "a `}` without its `{`"),
        ("{}", "without a name"),
        ("{a,}", "without a name"),
        ("{a*}", "level 4"),
        ("{a:3}", "level 4"),
        ("{=a}", "keeps for later"),
        ("{a b}", "other than letters"),
        ("{a}{a}", "twice"),
        ("a b", "no URI may contain"),
        ("a%zz", "without two hexadecimal digits"),
    ] {
        let error = UriTemplate::parse(template).unwrap_err();
        assert!(error.to_string().contains(message), "{template}: {error}");
    }
}

#[test]
fn every_value_is_as_long_as_it_can_be_the_first_ones_first() {
    for (template, uri, values) in [
        ("x:{+a}{+b}", "x:a,b/c", vec![("a", "a,b/"), ("b", "c")]),
        ("x:{+a}/{b}", "x:1/2/3", vec![("a", "1/2"), ("b", "3")]),
        ("x:{a}{?q}{#f}", "x:1?q=2#3", vec![("a", "1"), ("q", "2"), ("f", "3")]),
        ("x:{a}{;p}{/s}", "x:1;p=2/3", vec![("a", "1"), ("p", "2"), ("s", "3")]),
        ("x:{a}.{b}", "x:1.2.3", vec![("a", "1.2"), ("b", "3")]),
    ] {
        let values = values.into_iter().map(|(name, value)| (name, value.to_owned())).collect::<Vec<_>>();
        assert_eq!(UriTemplate::parse(template).unwrap().matches(uri), Some(values), "{template} {uri}");
    }
}

/// Were a search to look at every pair of places, it would not end in the time that tests have.
#[test]
fn a_hostile_address_costs_little() {
    let many: String = (0..100).map(|number| format!("{{+v{number}}}")).collect();
    let template = UriTemplate::parse(&format!("{many}!")).unwrap();
    assert_eq!(template.matches(&"a".repeat(4096)), None);
    assert_eq!(template.matches(&"a".repeat(100_000)), None);
    assert_eq!(template.matches(&format!("{}!", "a".repeat(4095))).map(|values| values.len()), Some(100));
    let template = UriTemplate::parse(&format!("{}{{?q}}{{&r}}!", many.replace('+', "/"))).unwrap();
    assert_eq!(template.matches(&"/a?&".repeat(1000)), None);
}

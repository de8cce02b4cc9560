//! Of several faults of one request, which is told: the first of the order in which peers look for them.

use crate::site::{Site, modern};
use sandwire_json::find;
use sandwire_proto::http::{RequestHead, Verb};

struct Fault {
    what: &'static str,
    status: u16,
    code: i64,
    /// A part of the message that tells it from others of the same code.
    says: &'static str,
    make: fn(&mut RequestHead, &mut String),
}

const FAULTS: [Fault; 14] = [
    Fault { what: "host", status: 421, code: -32600, says: "Host", make: |head, _| head.headers.set("host", "evil") },
    Fault {
        what: "origin",
        status: 403,
        code: -32600,
        says: "Origin",
        make: |head, _| head.headers.set("origin", "http://evil"),
    },
    Fault { what: "verb", status: 405, code: -32600, says: "POST", make: |head, _| head.method = Verb::Get },
    Fault {
        what: "content type",
        status: 415,
        code: -32600,
        says: "Content-Type",
        make: |head, _| head.headers.set("content-type", "text/plain; x=application/json"),
    },
    Fault {
        what: "accept",
        status: 406,
        code: -32600,
        says: "Accept",
        make: |head, _| head.headers.set("accept", "application/json"),
    },
    Fault { what: "no JSON", status: 400, code: -32700, says: "", make: |_, body| body.push('}') },
    Fault {
        what: "no request",
        status: 400,
        code: -32600,
        says: "",
        make: |_, body| *body = body.replace(r#""id":7"#, r#""id":[7]"#),
    },
    Fault {
        what: "a header twice",
        status: 400,
        code: -32020,
        says: "twice",
        make: |head, _| head.headers.push("Mcp-Method", "tools/call"),
    },
    Fault {
        what: "half an envelope",
        status: 400,
        code: -32602,
        says: "",
        make: |_, body| *body = body.replace("io.modelcontextprotocol/clientCapabilities", "x"),
    },
    Fault {
        what: "another version",
        status: 400,
        code: -32020,
        says: "differs from the version",
        make: |head, _| head.headers.set("MCP-Protocol-Version", "v998"),
    },
    Fault {
        what: "an unknown version",
        status: 400,
        code: -32022,
        says: "",
        make: |head, body| {
            if head.headers.get("MCP-Protocol-Version") == Some("2026-07-28") {
                head.headers.set("MCP-Protocol-Version", "v999");
            }
            *body = body.replace("2026-07-28", "v999");
        },
    },
    Fault {
        what: "no name",
        status: 400,
        code: -32020,
        says: "Mcp-Name",
        make: |head, _| head.headers.remove("Mcp-Name"),
    },
    Fault {
        what: "a parameter",
        status: 400,
        code: -32020,
        says: "Mcp-Param",
        make: |head, _| head.headers.remove("Mcp-Param-Region"),
    },
    Fault {
        what: "a method that there is not",
        status: 404,
        code: -32601,
        says: "",
        make: |head, body| {
            head.headers.set("Mcp-Method", "tools/burn");
            *body = body.replace("tools/call", "tools/burn");
        },
    },
];

fn request() -> (RequestHead, String) {
    let (mut head, body) = modern("tools/call", r#""name":"routed","arguments":{"region":"eu"}"#);
    head.headers.push("Mcp-Param-Region", "eu");
    (head, body)
}

#[test]
fn of_two_faults_the_earlier_is_told() {
    let site = Site::new();
    let (head, body) = request();
    assert_eq!(site.send(head, &body).head.status, 200);
    for (at, first) in FAULTS.iter().enumerate() {
        for later in FAULTS.iter().skip(at) {
            // A method that there is not has neither name nor parameters, and a name that is not there none to compare.
            if matches!(later.what, "a method that there is not") && matches!(first.what, "no name" | "a parameter") {
                continue;
            }
            let (mut head, mut body) = request();
            (later.make)(&mut head, &mut body);
            if later.what != first.what {
                (first.make)(&mut head, &mut body);
            }
            let got = site.send(head, &body);
            let what = format!("{} before {}: {}", first.what, later.what, got.body);
            assert_eq!((got.head.status, got.code()), (first.status, first.code), "{what}");
            assert!(got.body.contains(first.says), "{what}");
            assert_eq!(find(&got.body, "jsonrpc"), Some("\"2.0\""), "{what}");
        }
    }
}

#[test]
fn media_types_are_read_as_such() {
    let site = Site::new();
    for (field, status) in [
        ("application/json", 200),
        ("APPLICATION/JSON ; charset=utf-8", 200),
        ("text/plain; x=application/json", 415),
        ("application/jsonp", 415),
        ("application/json-rpc", 415),
        ("xapplication/json", 415),
    ] {
        let (mut head, body) = request();
        head.headers.set("content-type", field);
        assert_eq!(site.send(head, &body).head.status, status, "{field}");
    }
    let (head, body) = request();
    assert_eq!(site.send(head, &["\u{feff}", &body].concat()).head.status, 200, "a byte order mark is nothing");
}

use sandwire_server::resource;

#[resource("notes://{id}")]
fn note(name: String) -> String {
    name
}

#[resource("notes://all")]
fn all(page: u32) -> String {
    page.to_string()
}

fn main() {}

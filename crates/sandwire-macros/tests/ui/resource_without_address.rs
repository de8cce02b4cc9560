use sandwire_server::resource;

#[resource]
fn note() -> String {
    String::new()
}

fn main() {}

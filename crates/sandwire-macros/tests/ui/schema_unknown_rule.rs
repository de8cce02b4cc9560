use sandwire_server::Schema;

#[derive(Schema)]
struct Range {
    #[schema(min = 1)]
    from: u32,
}

fn main() {}

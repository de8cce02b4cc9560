use sandwire_server::Schema;

#[derive(Schema)]
union Either {
    a: u32,
    b: f32,
}

fn main() {}

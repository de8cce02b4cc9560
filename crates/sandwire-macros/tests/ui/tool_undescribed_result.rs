use sandwire_server::tool;

struct Point {
    x: f64,
}

#[tool]
fn origin() -> Point {
    Point { x: 0.0 }
}

fn main() {}

use sandwire_server::tool;

#[derive(serde::Deserialize)]
struct Point {
    x: f64,
}

#[tool]
fn show(point: Point) -> f64 {
    point.x
}

fn main() {}

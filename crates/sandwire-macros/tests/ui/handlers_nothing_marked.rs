use sandwire_server::handlers;

struct Counter(u64);

#[handlers]
impl Counter {
    fn next(&self) -> u64 {
        self.0
    }
}

fn main() {}

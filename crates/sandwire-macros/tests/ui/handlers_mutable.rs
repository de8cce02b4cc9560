use sandwire_server::handlers;

struct Counter(u64);

#[handlers]
impl Counter {
    #[tool]
    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

fn main() {}

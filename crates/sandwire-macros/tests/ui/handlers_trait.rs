use sandwire_server::handlers;

struct Counter(u64);

#[handlers]
impl Clone for Counter {
    fn clone(&self) -> Self {
        Counter(self.0)
    }
}

fn main() {}

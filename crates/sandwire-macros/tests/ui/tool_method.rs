use sandwire_server::tool;

struct Notes;

impl Notes {
    #[tool]
    fn count(&self) -> usize {
        0
    }
}

fn main() {}

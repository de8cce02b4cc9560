use sandwire_server::{Context, tool};

#[tool]
fn wait(ctx: Context) {
    drop(ctx);
}

fn main() {}

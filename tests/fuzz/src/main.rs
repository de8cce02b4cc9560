//! `cargo run --release -- --seconds 10` in this folder.

fn main() -> std::process::ExitCode {
    sandwire_fuzz::main()
}

//! The Rust quickstarts of the README, as a crate of a user's.

pub mod server;

#[cfg(test)]
mod tests {
    #[test]
    fn the_server_is_built() {
        crate::server::server().unwrap();
    }
}

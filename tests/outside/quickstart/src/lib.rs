//! The Rust quickstarts of the README, as a crate of a user's.

pub mod client;
pub mod server;

#[cfg(test)]
mod tests {
    #[test]
    fn the_client_calls_the_server() {
        let server = crate::server::server().unwrap();
        assert_eq!(crate::client::sum(&server).unwrap(), 42);
    }
}

//! Protection of a suspended call's state while the client holds it.

use crate::base64::{self, Kind};
use hmac_sha256::HMAC;

/// Keeps the state of a suspended call unchanged on its way through the client.
///
/// `context` names what the state belongs to (method, target, arguments): text sealed for one
/// context does not open in another.
pub trait Sealer: Send + Sync + 'static {
    /// Makes the opaque string that the client holds.
    fn seal(&self, context: &[&str], text: &str) -> String;

    /// The text that was sealed, or nothing if the string is not one of ours or was changed.
    fn open(&self, context: &[&str], sealed: &str) -> Option<String>;
}

impl std::fmt::Debug for dyn Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer")
    }
}

/// Seals with HMAC-SHA256: the client can read the state (it holds the client's own answers) and
/// cannot change it.
///
/// Instances of a server behind a balancer share a key. A new one takes the place of an old one in three steps: first
/// all instances [open](Self::or) the new one too, then all seal with it, and when no call of before can be waiting for
/// its answers any more the old one is left out.
pub struct HmacSealer {
    key: Key,
    others: Vec<Key>,
}

type Key = [u8; 32];

impl HmacSealer {
    /// Seals with `key`, which must come from a secure random source and stay on the server.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key, others: Vec::new() }
    }

    /// Opens what was sealed with `key`, too.
    #[must_use]
    pub fn or(mut self, key: [u8; 32]) -> Self {
        self.others.push(key);
        self
    }

    fn mac(key: Key, context: &[&str], text: &[u8]) -> HMAC {
        let mut mac = HMAC::new(key);
        for part in context {
            mac.update((part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.update(text);
        mac
    }
}

const MAC_BYTES: usize = 32;

impl Sealer for HmacSealer {
    fn seal(&self, context: &[&str], text: &str) -> String {
        let mut sealed = Vec::with_capacity(MAC_BYTES + text.len());
        sealed.extend_from_slice(&Self::mac(self.key, context, text.as_bytes()).finalize());
        sealed.extend_from_slice(text.as_bytes());
        let mut text = String::with_capacity(sealed.len() / 3 * 4 + 4);
        base64::encode(Kind::UrlSafe, &sealed, &mut text);
        text
    }

    fn open(&self, context: &[&str], sealed: &str) -> Option<String> {
        let bytes = base64::decode(Kind::UrlSafe, sealed)?;
        let (mac, text) = bytes.split_first_chunk::<MAC_BYTES>()?;
        let mut keys = std::iter::once(&self.key).chain(&self.others);
        let is_ours = keys.any(|key| Self::mac(*key, context, text).finalize_verify(mac));
        is_ours.then(|| text.to_vec()).and_then(|text| String::from_utf8(text).ok())
    }
}

impl std::fmt::Debug for HmacSealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HmacSealer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_what_it_sealed_and_nothing_else() {
        let sealer = HmacSealer::new([7; 32]);
        let sealed = sealer.seal(&["tools/call", "add"], "{\"a\":1}");
        assert_eq!(sealer.open(&["tools/call", "add"], &sealed).as_deref(), Some("{\"a\":1}"));
        assert_eq!(sealer.open(&["tools/call", "ad", "d"], &sealed), None);
        assert_eq!(HmacSealer::new([8; 32]).open(&["tools/call", "add"], &sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap_or_default();
            assert_eq!(sealer.open(&["tools/call", "add"], &changed), None, "byte {at}");
        }
        let rotated = HmacSealer::new([8; 32]).or([7; 32]);
        assert_eq!(rotated.open(&["tools/call", "add"], &sealed).as_deref(), Some("{\"a\":1}"));
        let new = rotated.seal(&["tools/call", "add"], "{}");
        assert_eq!(sealer.open(&["tools/call", "add"], &new), None, "the first key seals");
        assert_eq!(HmacSealer::new([8; 32]).open(&["tools/call", "add"], &new).as_deref(), Some("{}"));
        for junk in ["", "A", "====", "not base64!"] {
            assert_eq!(sealer.open(&["tools/call", "add"], junk), None);
        }
    }
}

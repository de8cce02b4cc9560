//! Whether what was read of a skill agrees with its entry. The other side is `npm/src/skills.ts`.
//!
//! Nothing is kept between calls: each brings the entry, and what came of it is told by `say` before the call returns.

use sandwire_json::from_str;
use sandwire_skills::{Manifest, Skill, VerifyError, front_matter};

use crate::room::bytes;

mod imports {
    #[link(wasm_import_module = "js")]
    unsafe extern "C" {
        pub(super) fn say(at: *const u8, length: usize);
    }
}

fn say(text: &str) {
    // SAFETY: the place is a text that lives until the call returns.
    unsafe { imports::say(text.as_ptr(), text.len()) }
}

/// Says a text, or what is wrong; gives which of the two.
fn told(result: Result<String, String>) -> u32 {
    let (is_error, text) = match result {
        Ok(text) => (0, text),
        Err(problem) => (1, problem),
    };
    say(&text);
    is_error
}

fn manifest(entry: &[u8]) -> Result<Manifest, String> {
    let entry = std::str::from_utf8(entry).map_err(|error| error.to_string())?;
    let skill: Skill = from_str(entry).map_err(|error| error.to_string())?;
    Manifest::new(skill).map_err(|error| error.to_string())
}

fn split(room: &[u8], at: usize) -> (&[u8], &[u8]) {
    room.split_at_checked(at).unwrap_or((room, &[]))
}

/// Checks an entry, and says the address of one of its files. In the room are the entry, this long, and a path.
#[unsafe(no_mangle)]
extern "C" fn resolve(entry: usize, length: usize) -> u32 {
    let room = bytes(length);
    let (entry, path) = split(&room, entry);
    told(manifest(entry).and_then(|manifest| {
        let path = String::from_utf8_lossy(path);
        let uri = match path.is_empty() {
            true => Ok(manifest.skill().uri.clone()),
            false => manifest.resolve(&path),
        };
        let admitted = uri.and_then(|uri| manifest.admits(&uri).map(|()| uri));
        admitted.map_err(|error: VerifyError| error.to_string())
    }))
}

/// Checks what was read at an address. In the room are the entry, the address, both this long, and the file's bytes.
#[unsafe(no_mangle)]
extern "C" fn verify(entry: usize, uri: usize, length: usize) -> u32 {
    let room = bytes(length);
    let (entry, rest) = split(&room, entry);
    let (uri, file) = split(rest, uri);
    told(manifest(entry).and_then(|manifest| {
        let verified = manifest.verify(&String::from_utf8_lossy(uri), file);
        verified.map(|()| String::new()).map_err(|error| error.to_string())
    }))
}

/// Says the front matter of a text as JSON. In the room is the text.
#[unsafe(no_mangle)]
extern "C" fn front(length: usize) -> u32 {
    let text = String::from_utf8(bytes(length)).unwrap_or_default();
    told(front_matter(&text).map(|json| json.as_str().to_owned()).map_err(|error| error.to_string()))
}

//! A server of static files, for one page on loopback.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

const LONGEST_HEAD: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves the files of `folder`, a thread for each connection.
pub fn forever(listener: &TcpListener, folder: &Path) -> Result<()> {
    for stream in listener.incoming() {
        let folder = folder.to_owned();
        if let Ok(stream) = stream {
            std::thread::spawn(move || answer(&stream, &folder));
        }
    }
    Ok(())
}

fn answer(stream: &TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream.take(LONGEST_HEAD));
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut header = String::from("-");
    while !header.trim().is_empty() {
        header.clear();
        reader.read_line(&mut header)?;
    }
    let response = respond(&request, folder);
    let mut writer = stream;
    writer.write_all(&response)?;
    writer.flush()
}

fn respond(request: &str, folder: &Path) -> Vec<u8> {
    let mut words = request.split_ascii_whitespace();
    let method = words.next().unwrap_or_default();
    if !matches!(method, "GET" | "HEAD") {
        return response(method, "405 Method Not Allowed", "text/plain", b"GET and HEAD only\n");
    }
    let file = words.next().and_then(|target| find(target, folder));
    match file.and_then(|path| Some((fs::read(&path).ok()?, media_type(&path)))) {
        Some((body, kind)) => response(method, "200 OK", kind, &body),
        None => response(method, "404 Not Found", "text/plain", b"no such file\n"),
    }
}

fn response(method: &str, status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let mut response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    if method != "HEAD" {
        response.extend_from_slice(body);
    }
    response
}

/// The file that a request's target names; never one outside the folder.
fn find(target: &str, folder: &Path) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next()?;
    let mut file = folder.to_owned();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let part = percent_decode(part)?;
        if part.starts_with('.') || part.contains(['/', '\\', ':', '\0']) {
            return None;
        }
        file.push(part);
    }
    if file.is_dir() {
        file.push("index.html");
    }
    file.is_file().then_some(file)
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        decoded.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(decoded).ok()
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("page/deep")).unwrap();
        fs::write(folder.join("secret"), "no").unwrap();
        fs::write(folder.join("page/index.html"), "<p>").unwrap();
        fs::write(folder.join("page/deep/a b.wasm"), [0]).unwrap();
        folder
    }

    #[test]
    fn files_are_found_inside_the_folder_only() {
        let folder = folder("find");
        let page = folder.join("page");
        assert_eq!(find("/", &page), Some(page.join("index.html")));
        assert_eq!(find("/deep/a%20b.wasm?x", &page), Some(page.join("deep/a b.wasm")));
        for target in ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "/deep/%2e%2e%2f", "/%zz"] {
            assert_eq!(find(target, &page), None, "{target}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_module_has_the_type_that_streaming_compilation_needs() {
        let folder = folder("respond");
        let page = folder.join("page");
        let answer = |request: &str| String::from_utf8(respond(request, &page)).unwrap();
        let module = answer("GET /deep/a%20b.wasm HTTP/1.1");
        assert!(module.contains("Content-Type: application/wasm\r\n"), "{module}");
        assert!(answer("HEAD / HTTP/1.1").ends_with("\r\n\r\n"));
        assert!(answer("GET / HTTP/1.1").ends_with("<p>"));
        assert!(answer("GET /no HTTP/1.1").starts_with("HTTP/1.1 404 "));
        assert!(answer("POST / HTTP/1.1").starts_with("HTTP/1.1 405 "));
        fs::remove_dir_all(folder).unwrap();
    }
}

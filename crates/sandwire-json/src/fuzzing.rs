//! Bodies of the fuzz targets.

/// Reads any bytes as text.
pub fn reader(data: &[u8]) {
    let _ = data;
}

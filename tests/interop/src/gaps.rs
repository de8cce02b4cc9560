//! What peers cannot do with themselves either: the only cells that may be empty.

use crate::peers::Who;
use crate::row::Row;

/// An empty cell of a peer's.
#[derive(Debug)]
pub(crate) struct Gap {
    peer: Who,
    /// Only over this transport.
    transport: Option<&'static str>,
    versions: &'static [&'static str],
    area: &'static str,
    /// Why it is empty.
    pub(crate) why: &'static str,
}

const GAPS: &[Gap] = &[];

/// The gap that explains an empty cell.
pub(crate) fn of(row: &Row, area: &str) -> Option<&'static Gap> {
    GAPS.iter().find(|gap| {
        gap.peer == row.peer()
            && gap.area == area
            && gap.transport.is_none_or(|transport| transport == row.transport)
            && gap.versions.contains(&row.version)
    })
}

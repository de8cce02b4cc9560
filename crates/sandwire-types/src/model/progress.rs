//! [Progress](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress) and
//! [cancellation](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation),
//! and the parameters that many requests share.

use sandwire_json::{Number, Raw};

use super::macros::noun;
use crate::jsonrpc::{ProgressToken, RequestId};

noun! {
    /// What `notifications/progress` tells.
    ProgressNotificationParams {
        /// Which request.
        progress_token: ProgressToken = "progressToken",
        /// How far it has come: more each time.
        progress: Number = "progress",
    } optional {
        /// How far it has to go.
        total: Number = "total",
        /// What it is doing.
        message: String = "message" since V2025_03_26,
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// What `notifications/cancelled` tells.
    CancelledNotificationParams {} optional {
        /// Which request; only 2025-11-25 lets it be absent.
        request_id: RequestId = "requestId",
        /// Why.
        reason: String = "reason",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// What a list request is called with.
    PaginatedRequestParams {} optional {
        /// Where the page begins; absent for the first.
        cursor: String = "cursor",
    }
}

//! The last look at an answer before it leaves: the era decides its form.

use std::sync::Arc;

use sandwire_json::Raw;
use sandwire_types::{Era, ErrorCode, ErrorObject, Method, ProtocolVersion, Reply, Request, ResultKind, wire};

use super::{Machine, calls::Entry, extensions::unknown_kind, fault};
use crate::{PeerInfo, Via};

impl Machine {
    pub(super) fn answer_value(&mut self, via: Via, request: &Request, peer: &Arc<PeerInfo>, value: Raw) {
        let result = self.shape(peer, &request.method, Ok(Reply::new(value)));
        self.answer(via, request.id.clone(), result);
    }

    pub(super) fn finish(&self, entry: &Entry, result: Result<Reply, ErrorObject>) -> Result<Reply, ErrorObject> {
        self.shape(&entry.peer, &entry.method, result)
    }

    fn shape(
        &self,
        peer: &PeerInfo,
        method: &Method,
        result: Result<Reply, ErrorObject>,
    ) -> Result<Reply, ErrorObject> {
        let era = peer.era();
        let mut reply = result.map_err(|error| translate(peer.version, error))?;
        if !reply.value.is_object() {
            return Err(internal("the handler's result is no JSON object; the server's author has to give one"));
        }
        if reply.value.as_str().len() > self.config.limits.max_message_bytes {
            return Err(internal("the result is over the server's size limit; ask for less at once"));
        }
        match era {
            Era::Legacy => {
                if reply.kind != ResultKind::Complete {
                    return Err(internal("the call needs input in a way that this protocol version cannot carry"));
                }
                reply.value =
                    wire::legacy::lower_result_of(peer.version, method, self.config.result_type(method), &reply.value);
                reply.stamp = None;
            }
            Era::Modern => {
                if reply.kind == ResultKind::InputRequired && !method.may_require_input() {
                    return Err(internal("this method cannot ask for input; report this to the server's author"));
                }
                if let ResultKind::Other(kind) = &reply.kind {
                    self.config.rules().ok_or_else(unknown_kind)?.admit_result(kind, peer)?;
                }
                let own = reply.stamp.take();
                let complete = reply.kind == ResultKind::Complete;
                let cache = (complete && method.is_cacheable()).then(|| {
                    own.as_ref()
                        .and_then(|own| own.cache.clone())
                        .unwrap_or_else(|| self.config.cache_of(method).clone())
                });
                let mut stamp = own.unwrap_or_default();
                stamp.cache = cache;
                stamp.server_info = Some(self.config.info.clone());
                reply.stamp = Some(stamp);
            }
        }
        Ok(reply)
    }
}

/// Codes that not every version knows become what the others say instead.
fn translate(version: ProtocolVersion, mut error: ErrorObject) -> ErrorObject {
    error.code = match (version.era(), error.code) {
        (Era::Modern, ErrorCode::RESOURCE_NOT_FOUND | ErrorCode::URL_ELICITATION_REQUIRED) => ErrorCode::INVALID_PARAMS,
        (Era::Legacy, ErrorCode::MISSING_CLIENT_CAPABILITY) => ErrorCode::INVALID_REQUEST,
        (Era::Legacy, ErrorCode::URL_ELICITATION_REQUIRED) if !version.has_url_elicitation() => {
            ErrorCode::INVALID_REQUEST
        }
        (_, code) => code,
    };
    error
}

fn internal(message: &'static str) -> ErrorObject {
    fault(ErrorCode::INTERNAL_ERROR, message)
}

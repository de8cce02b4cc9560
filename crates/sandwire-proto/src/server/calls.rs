//! The calls under way: a slab whose keys carry a generation, searchable by request id.

use std::sync::Arc;

use sandwire_json::Raw;
use sandwire_types::{LoggingLevel, Method, ProgressToken, RequestId};

use super::{ask::Asks, listen::Filter};
use crate::{PeerInfo, Via};

/// Names a call for as long as it is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    slot: u32,
    generation: u32,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: RequestId,
    pub(super) via: Via,
    pub(super) method: Method,
    pub(super) params: Option<Raw>,
    pub(super) peer: Arc<PeerInfo>,
    pub(super) token: Option<ProgressToken>,
    pub(super) level: Option<LoggingLevel>,
    pub(super) progress: Option<f64>,
    pub(super) state: State,
    pub(super) asks: Option<Box<Asks>>,
}

#[derive(Debug)]
pub(super) enum State {
    /// The endpoint works on it.
    Running,
    /// The client gave up, the endpoint has not ended it yet. Its id is free again.
    Cancelled,
    /// A subscription of the modern era.
    Listening(Filter),
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
    /// For every slot a hash of the id that occupies it, zero when there is none to find.
    hashes: Vec<u32>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, entry: Entry) -> CallKey {
        let hash = hash(&entry.id);
        let free = self.free.pop();
        if let Some(index) = free
            && let (Some(slot), Some(place)) = (self.slots.get_mut(index as usize), self.hashes.get_mut(index as usize))
        {
            slot.entry = Some(entry);
            *place = hash;
            return CallKey { slot: index, generation: slot.generation };
        }
        let index = self.slots.len() as u32;
        self.slots.push(Slot { generation: 0, entry: Some(entry) });
        self.hashes.push(hash);
        CallKey { slot: index, generation: 0 }
    }

    pub(super) fn get(&self, key: CallKey) -> Option<&Entry> {
        let slot = self.slots.get(key.slot as usize)?;
        slot.entry.as_ref().filter(|_| slot.generation == key.generation)
    }

    pub(super) fn get_mut(&mut self, key: CallKey) -> Option<&mut Entry> {
        let slot = self.slots.get_mut(key.slot as usize)?;
        slot.entry.as_mut().filter(|_| slot.generation == key.generation)
    }

    pub(super) fn remove(&mut self, key: CallKey) -> Option<Entry> {
        let slot = self.slots.get_mut(key.slot as usize).filter(|slot| slot.generation == key.generation)?;
        let entry = slot.entry.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.slot);
        self.forget_id(key);
        Some(entry)
    }

    /// Makes the id of a call free for another, while the call keeps its place.
    pub(super) fn forget_id(&mut self, key: CallKey) {
        if let Some(hash) = self.hashes.get_mut(key.slot as usize) {
            *hash = 0;
        }
    }

    /// The call of this id, of those that are answered on this stream where one is given.
    pub(super) fn find(&self, id: &RequestId, via: Option<Via>) -> Option<CallKey> {
        self.search(id, via, false)
    }

    /// The call of this id, if there is one of it only.
    pub(super) fn find_only(&self, id: &RequestId) -> Option<CallKey> {
        self.search(id, None, true)
    }

    #[inline(never)]
    fn search(&self, id: &RequestId, via: Option<Via>, only: bool) -> Option<CallKey> {
        let wanted = hash(id);
        let mut found = None;
        for (index, (slot, hash)) in self.slots.iter().zip(&self.hashes).enumerate() {
            let Some(entry) = slot.entry.as_ref().filter(|_| *hash == wanted) else { continue };
            if entry.id != *id || via.is_some_and(|via| entry.via != via) {
                continue;
            }
            if found.is_some() {
                return None;
            }
            found = Some(CallKey { slot: index as u32, generation: slot.generation });
            if !only {
                break;
            }
        }
        found
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (CallKey, &Entry)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let key = CallKey { slot: index as u32, generation: slot.generation };
            slot.entry.as_ref().map(|entry| (key, entry))
        })
    }

    pub(super) fn keys(&self) -> Vec<CallKey> {
        self.iter().map(|(key, _)| key).collect()
    }
}

/// Never zero.
fn hash(id: &RequestId) -> u32 {
    let hash = match id {
        RequestId::Number(number) => (*number as u32) ^ ((*number >> 32) as u32),
        RequestId::String(text) => {
            text.bytes().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
        }
    };
    hash.wrapping_mul(2) | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandwire_types::ProtocolVersion;

    fn entry(id: RequestId) -> Entry {
        Entry {
            id,
            via: Via::Pipe,
            method: Method::ToolsCall,
            params: None,
            peer: Arc::new(PeerInfo::new(ProtocolVersion::V2025_11_25, Raw::object())),
            token: None,
            level: None,
            progress: None,
            state: State::Running,
            asks: None,
        }
    }

    #[test]
    fn a_key_dies_with_its_call() {
        let mut calls = Calls::default();
        let first = calls.insert(entry(RequestId::Number(1)));
        assert!(calls.remove(first).is_some());
        let second = calls.insert(entry(RequestId::Number(1)));
        assert!(calls.get(first).is_none());
        assert!(calls.remove(first).is_none());
        assert!(calls.get(second).is_some());
        assert_eq!(calls.len(), 1);
    }

    #[test]
    fn finds_by_id_and_type_of_id() {
        let mut calls = Calls::default();
        let number = calls.insert(entry(RequestId::Number(1)));
        let text = calls.insert(entry(RequestId::String("1".into())));
        let empty = calls.insert(entry(RequestId::String("".into())));
        assert_eq!(calls.find_only(&RequestId::Number(1)), Some(number));
        assert_eq!(calls.find_only(&RequestId::String("1".into())), Some(text));
        assert_eq!(calls.find_only(&RequestId::String("".into())), Some(empty));
        assert_eq!(calls.find_only(&RequestId::Number(2)), None);
        calls.forget_id(number);
        assert_eq!(calls.find_only(&RequestId::Number(1)), None);
        assert!(calls.get(number).is_some());
    }
}

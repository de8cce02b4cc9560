use crate::faults::Fault;
use std::ops::Range;

/// Values in slots that are reused, under keys that are not: a key is the slot and how often it was used.
///
/// Keys stay below 2^53, so they may travel as JSON numbers.
#[derive(Debug)]
pub(super) struct Slab<T> {
    keys: Keys,
    values: Vec<Option<Box<T>>>,
}

/// The slots of a slab, whatever it keeps in them.
#[derive(Debug)]
struct Keys {
    /// How often each slot was used.
    generations: Vec<u64>,
    free: Vec<u16>,
}

const SLOT_BITS: u32 = 16;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
const MAX_GENERATION: u64 = 1 << (53 - SLOT_BITS);

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self { keys: Keys { generations: Vec::new(), free: Vec::new() }, values: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len() - self.keys.free.len()
    }

    /// Keeps a value; `None` if every slot is taken.
    pub(super) fn insert(&mut self, value: Box<T>) -> Option<u64> {
        let slot = self.keys.take_slot()?;
        match self.values.get_mut(slot) {
            Some(place) => *place = Some(value),
            None => self.values.push(Some(value)),
        }
        self.keys.renew(slot)
    }

    pub(super) fn get(&self, key: u64) -> Option<&T> {
        self.values.get(self.keys.slot(key)?)?.as_deref()
    }

    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        self.values.get_mut(self.keys.slot(key)?)?.as_deref_mut()
    }

    pub(super) fn remove(&mut self, key: u64) -> Option<Box<T>> {
        let value = self.values.get_mut(self.keys.slot(key)?)?.take()?;
        self.keys.give_back(key);
        Some(value)
    }

    /// Gives a value a new key; the old one names nothing any more.
    pub(super) fn rekey(&mut self, old: u64) -> Option<u64> {
        self.get(old)?;
        self.keys.renew(self.keys.slot(old)?)
    }

    /// The value in the slot that `key` names, under whatever key it has now.
    pub(super) fn in_slot(&self, old: u64) -> Option<(u64, &T)> {
        let key = self.key_in((old & SLOT_MASK) as usize)?;
        Some((key, self.get(key)?))
    }

    /// Every slot there is, for walks during which values come and go.
    pub(super) fn slots(&self) -> Range<usize> {
        0..self.values.len()
    }

    /// The key of the value in a slot.
    pub(super) fn key_in(&self, slot: usize) -> Option<u64> {
        self.values.get(slot)?.as_ref()?;
        self.keys.key(slot)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.slots().filter_map(|slot| {
            let key = self.key_in(slot)?;
            Some((key, self.get(key)?))
        })
    }
}

impl Keys {
    fn take_slot(&mut self) -> Option<usize> {
        if let Some(slot) = self.free.pop() {
            return Some(slot.into());
        }
        let slot = self.generations.len();
        if slot > SLOT_MASK as usize {
            return None;
        }
        self.generations.push(0);
        Some(slot)
    }

    fn give_back(&mut self, key: u64) {
        if key >> SLOT_BITS < MAX_GENERATION {
            self.free.push((key & SLOT_MASK) as u16);
        }
    }

    /// The next key of a slot.
    fn renew(&mut self, slot: usize) -> Option<u64> {
        *self.generations.get_mut(slot)? += 1;
        self.key(slot)
    }

    fn key(&self, slot: usize) -> Option<u64> {
        Some(self.generations.get(slot)? << SLOT_BITS | slot as u64)
    }

    /// The slot of a key, if that is its key now.
    fn slot(&self, key: u64) -> Option<usize> {
        let slot = (key & SLOT_MASK) as usize;
        (self.key(slot) == Some(key) || Fault::ClientTakesLateAnswer.happens()).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::Slab;

    #[test]
    fn an_old_key_does_not_reach_the_slot_s_next_value() {
        let mut slab = Slab::new();
        let first = slab.insert(Box::new("first"));
        let key = first.unwrap_or_default();
        assert_eq!(slab.remove(key), Some(Box::new("first")));
        let second = slab.insert(Box::new("second")).unwrap_or_default();
        assert_ne!(key, second);
        assert_eq!(key & 0xffff, second & 0xffff);
        assert_eq!(slab.get(key), None);
        assert_eq!(slab.remove(key), None);
        assert_eq!(slab.get(second), Some(&"second"));
        let third = slab.rekey(second).unwrap_or_default();
        assert_eq!(slab.get(second), None);
        assert_eq!(slab.in_slot(second), Some((third, &"second")));
        assert_eq!(slab.len(), 1);
    }
}

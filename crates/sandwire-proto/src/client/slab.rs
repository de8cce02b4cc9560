use std::ops::Range;

/// Values in slots that are reused, under keys that are not: a key is the slot and how often it was used.
///
/// Keys stay below 2^53, so they may travel as JSON numbers.
#[derive(Debug)]
pub(super) struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u16>,
}

#[derive(Debug)]
struct Place<T> {
    generation: u64,
    value: Option<Box<T>>,
}

const SLOT_BITS: u32 = 16;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
const MAX_GENERATION: u64 = 1 << (53 - SLOT_BITS);

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Keeps a value; `None` if every slot is taken.
    #[inline(never)]
    pub(super) fn insert(&mut self, value: Box<T>) -> Option<u64> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = u16::try_from(self.places.len()).ok()?;
                self.places.push(Place { generation: 0, value: None });
                slot
            }
        };
        let place = self.places.get_mut(usize::from(slot))?;
        place.generation += 1;
        place.value = Some(value);
        Some(key(place.generation, slot))
    }

    pub(super) fn get(&self, key: u64) -> Option<&T> {
        self.place(key)?.value.as_deref()
    }

    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        self.place_mut(key)?.value.as_deref_mut()
    }

    pub(super) fn remove(&mut self, key: u64) -> Option<Box<T>> {
        let place = self.place_mut(key)?;
        let value = place.value.take()?;
        if place.generation < MAX_GENERATION {
            self.free.push((key & SLOT_MASK) as u16);
        }
        Some(value)
    }

    /// Gives a value a new key; the old one names nothing any more.
    pub(super) fn rekey(&mut self, old: u64) -> Option<u64> {
        let place = self.place_mut(old)?;
        place.value.as_ref()?;
        place.generation += 1;
        Some(key(place.generation, (old & SLOT_MASK) as u16))
    }

    /// The value in the slot that `key` names, under whatever key it has now.
    pub(super) fn in_slot(&self, old: u64) -> Option<(u64, &T)> {
        let slot = (old & SLOT_MASK) as u16;
        let place = self.places.get(usize::from(slot))?;
        Some((key(place.generation, slot), place.value.as_deref()?))
    }

    /// Every slot there is, for walks during which values come and go.
    pub(super) fn slots(&self) -> Range<usize> {
        0..self.places.len()
    }

    /// The key of the value in a slot.
    pub(super) fn key_in(&self, slot: usize) -> Option<u64> {
        let place = self.places.get(slot)?;
        place.value.as_ref()?;
        Some(key(place.generation, slot as u16))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.slots().filter_map(|slot| {
            let key = self.key_in(slot)?;
            Some((key, self.get(key)?))
        })
    }

    fn place(&self, key: u64) -> Option<&Place<T>> {
        self.places.get((key & SLOT_MASK) as usize).filter(|place| place.generation == key >> SLOT_BITS)
    }

    fn place_mut(&mut self, key: u64) -> Option<&mut Place<T>> {
        self.places.get_mut((key & SLOT_MASK) as usize).filter(|place| place.generation == key >> SLOT_BITS)
    }
}

fn key(generation: u64, slot: u16) -> u64 {
    generation << SLOT_BITS | u64::from(slot)
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

//! Handlers by name, with their list ready to send.

use crate::completion::Completions;
use crate::context::Context;
use crate::error::{Problem, RegistrationError};
use sandwire_io::{Answer, MaybeSend, MaybeSync};
use sandwire_json::{Raw, Writer};
use sandwire_proto::http::Headers;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A handler under its name.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) key: Arc<str>,
    /// The entry of the list, as text.
    pub(crate) descriptor: Raw,
    pub(crate) handler: Box<dyn Handler>,
}

/// What runs a row. Each kind of row has its own, so that a server contains the kinds that it registers only.
pub(crate) trait Handler: MaybeSend + MaybeSync {
    /// Answers a request that names the row, with the text of its arguments; nothing if rows of this kind are not run.
    fn run(&self, arguments: Option<&str>, context: Context) -> Option<Answer> {
        let _ = (arguments, context);
        None
    }

    /// Reads the resource at `uri`, if its address is one of the row's.
    fn read(&self, uri: &str, context: &Context) -> Option<Answer> {
        let _ = (uri, context);
        None
    }

    /// Proposes values for an argument; nothing if rows of this kind have none to complete.
    fn complete(&self, params: &str, context: Context) -> Option<Answer> {
        let _ = (params, context);
        None
    }

    /// The completions of its arguments, if it has any to complete.
    fn completions(&mut self) -> Option<&mut Completions> {
        None
    }

    /// Whether there are completions for any argument.
    fn completes(&self) -> bool {
        false
    }

    /// Whether the handler, or what completes its arguments, may send log messages.
    fn takes_context(&self) -> bool;

    /// Whether the header fields repeat those arguments of a tool that they must.
    fn is_mirrored(&self, arguments: &str, headers: &Headers) -> bool {
        let _ = (arguments, headers);
        true
    }
}

impl fmt::Debug for dyn Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}

/// Handlers in the order they were added. Never changes: a change makes another table.
#[derive(Debug)]
pub(crate) struct Table {
    list: &'static str,
    page_size: usize,
    rows: Vec<(Arc<Row>, Enabled)>,
    /// Positions of the enabled rows, by key.
    index: Vec<usize>,
    pages: Vec<Raw>,
}

type Enabled = bool;

impl Table {
    /// `list` is the member of a list result that holds the entries.
    pub(crate) fn new(list: &'static str, page_size: usize) -> Self {
        Self::of(list, page_size.max(1), Vec::new())
    }

    /// The keys of all rows, enabled or not.
    pub(crate) fn keys(&self) -> Vec<Arc<str>> {
        self.rows.iter().map(|(row, _)| row.key.clone()).collect()
    }

    pub(crate) fn enabled(&self) -> impl Iterator<Item = &Arc<Row>> {
        self.rows.iter().filter(|(_, enabled)| *enabled).map(|(row, _)| row)
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Arc<Row>> {
        let at = self.index.binary_search_by(|position| self.key(*position).cmp(key)).ok()?;
        self.rows.get(*self.index.get(at)?).map(|(row, _)| row)
    }

    /// One page of the list, or nothing if the cursor is not one of ours.
    pub(crate) fn page(&self, cursor: Option<&str>) -> Option<Raw> {
        let number = match cursor {
            None => 0,
            Some(cursor) => number(cursor).filter(|number| *number > 0)?,
        };
        self.pages.get(number).cloned()
    }

    pub(crate) fn with(&self, rows: Vec<Row>) -> Result<Self, RegistrationError> {
        let mut all = self.rows.clone();
        for row in rows {
            if all.iter().any(|(known, _)| known.key == row.key) {
                return Err(RegistrationError::new(&row.key, Problem::Duplicate));
            }
            all.push((Arc::new(row), true));
        }
        Ok(self.remade(all))
    }

    pub(crate) fn without(&self, key: &str) -> Option<Self> {
        let rows: Vec<_> = self.rows.iter().filter(|(row, _)| *row.key != *key).cloned().collect();
        (rows.len() < self.rows.len()).then(|| self.remade(rows))
    }

    pub(crate) fn switched(&self, key: &str, on: Enabled) -> Option<Self> {
        let mut rows = self.rows.clone();
        let (_, enabled) = rows.iter_mut().find(|(row, _)| *row.key == *key)?;
        if *enabled == on {
            return None;
        }
        *enabled = on;
        Some(self.remade(rows))
    }

    fn remade(&self, rows: Vec<(Arc<Row>, Enabled)>) -> Self {
        Self::of(self.list, self.page_size, rows)
    }

    fn of(list: &'static str, page_size: usize, rows: Vec<(Arc<Row>, Enabled)>) -> Self {
        let mut table = Self { list, page_size, rows, index: Vec::new(), pages: Vec::new() };
        let mut index: Vec<usize> = Vec::with_capacity(table.rows.len());
        for position in (0..table.rows.len()).filter(|at| table.is_enabled(*at)) {
            let key = table.key(position);
            let place = index.partition_point(|known| table.key(*known) < key);
            let mut last = position;
            index.iter_mut().skip(place).for_each(|at| std::mem::swap(at, &mut last));
            index.push(last);
        }
        table.index = index;
        table.pages = table.written();
        table
    }

    fn written(&self) -> Vec<Raw> {
        let shown: Vec<_> = self.enabled().collect();
        let mut rest = shown.as_slice();
        let mut pages = Vec::new();
        loop {
            let (page, others) = rest.split_at_checked(self.page_size).unwrap_or((rest, &[]));
            let mut writer = Writer::new();
            writer.begin_object();
            writer.key(self.list);
            writer.begin_array();
            for row in page {
                writer.raw(row.descriptor.as_str());
            }
            writer.end_array();
            if !others.is_empty() {
                writer.key("nextCursor");
                writer.string(&digits(pages.len() + 1));
            }
            writer.end_object();
            pages.push(writer.into_raw());
            if others.is_empty() {
                return pages;
            }
            rest = others;
        }
    }

    fn key(&self, position: usize) -> &str {
        self.rows.get(position).map_or("", |(row, _)| &row.key)
    }

    fn is_enabled(&self, position: usize) -> bool {
        self.rows.get(position).is_some_and(|(_, enabled)| *enabled)
    }
}

/// A value that is replaced as a whole; who has taken the old one keeps it.
#[derive(Debug)]
pub(crate) struct Swap<T>(Mutex<Arc<T>>);

impl<T> Swap<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(Arc::new(value)))
    }

    pub(crate) fn load(&self) -> Arc<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn update<E>(&self, change: impl FnOnce(&T) -> Result<T, E>) -> Result<(), E> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(change(&current)?);
        Ok(())
    }
}

fn digits(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from(b'0' + (number % 10) as u8));
        number /= 10;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

fn number(digits: &str) -> Option<usize> {
    let canonical = !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    canonical.then(|| {
        digits.bytes().try_fold(0_usize, |sum, byte| sum.checked_mul(10)?.checked_add(usize::from(byte - b'0')))
    })?
}

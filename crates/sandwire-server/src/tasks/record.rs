//! The texts of a task: what clients are told, and what is kept.

use super::TaskOptions;
use super::live::{Live, Outcome, State};
use sandwire_json::{Raw, Reader, Write as _, Writer, find};
use sandwire_types::ErrorObject;
use sandwire_types::model::TaskStatus;

/// For how many seconds a running task is taken to be alive after it left word.
const ALIVE_SECONDS: u64 = 60;

/// The key of a task in the store.
pub(super) fn key(id: &str) -> String {
    ["task:", id].concat()
}

/// Whether this may be the name of a task. What is not need not be looked for.
pub(super) fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// How a task stands, without what came of it: the result of the call that began it.
pub(super) fn summary(live: &Live, state: &State, options: &TaskOptions) -> Raw {
    let mut writer = Writer::new();
    writer.begin_object();
    write_summary(&mut writer, live, state, options);
    writer.end_object();
    writer.into_raw()
}

/// How a task stands in full: what is asked, what came of it.
pub(super) fn detailed(live: &Live, state: &State, options: &TaskOptions) -> Raw {
    let mut writer = Writer::new();
    writer.begin_object();
    write_summary(&mut writer, live, state, options);
    match &state.outcome {
        None if state.questions.is_empty() => {}
        None => {
            writer.key("inputRequests");
            writer.begin_object();
            for question in &state.questions {
                writer.key(&question.key);
                writer.begin_object();
                writer.key("method");
                writer.string(question.method.as_str());
                writer.key("params");
                writer.raw(question.params.as_str());
                writer.end_object();
            }
            writer.end_object();
        }
        Some(Outcome::Completed(result)) => {
            writer.key("result");
            writer.raw(result.as_str());
        }
        Some(Outcome::Failed(error)) => {
            writer.key("error");
            error.write(&mut writer);
        }
        Some(Outcome::Cancelled(_)) => {}
    }
    writer.end_object();
    writer.into_raw()
}

fn write_summary(writer: &mut Writer, live: &Live, state: &State, options: &TaskOptions) {
    writer.key("taskId");
    writer.string(&live.id);
    writer.key("status");
    state.status().write(writer);
    if let Some(Outcome::Cancelled(why)) = &state.outcome {
        writer.key("statusMessage");
        writer.string(why);
    }
    writer.key("createdAt");
    writer.string(&timestamp(live.created));
    writer.key("lastUpdatedAt");
    writer.string(&timestamp(state.updated));
    writer.key("ttlMs");
    writer.integer(i64::try_from(options.ttl_ms).unwrap_or(i64::MAX));
    writer.key("pollIntervalMs");
    writer.integer(i64::try_from(options.poll_interval_ms).unwrap_or(i64::MAX));
}

/// What is kept of a task: whose it is, until when it is taken to run without further word, and how it stands.
pub(super) fn stored(live: &Live, task: &Raw, now: u64) -> String {
    let mut writer = Writer::new();
    writer.begin_object();
    if let Some(owner) = &live.owner {
        writer.key("owner");
        writer.string(owner);
    }
    writer.key("alive");
    writer.integer(i64::try_from(now.saturating_add(ALIVE_SECONDS)).unwrap_or(i64::MAX));
    writer.key("task");
    writer.raw(task.as_str());
    writer.end_object();
    writer.finish()
}

/// A task that was found in the store.
pub(super) struct Found {
    pub(super) owner: Option<String>,
    /// Whether its end is told.
    pub(super) is_over: bool,
    /// Whether a process runs it, or ran it a moment ago.
    pub(super) is_alive: bool,
    pub(super) task: Raw,
}

/// Reads what is kept of a task; nothing if it is none of ours.
pub(super) fn read(text: &str, now: u64) -> Option<Found> {
    let record = Raw::parse(text).ok()?;
    let owner = match record.get("owner") {
        Some(owner) => Some(sandwire_json::from_str(owner.as_str()).ok()?),
        None => None,
    };
    let alive = find(record.as_str(), "alive")?.parse::<u64>().ok()?;
    let task = record.get("task")?;
    let status = task.get("status")?;
    let status: TaskStatus = sandwire_json::from_str(status.as_str()).ok()?;
    Some(Found { owner, is_over: status.is_terminal(), is_alive: alive >= now, task })
}

/// What is told of a task whose process is gone.
pub(super) fn lost(task: &Raw, now: u64) -> Raw {
    let error = ErrorObject::internal("the process that ran the task is gone; make the call again");
    let mut writer = Writer::new();
    writer.begin_object();
    // The text is valid: it stands in a `Raw`.
    let _ = Reader::new(task.as_str()).object(&mut |key, value| {
        let value = value.raw()?;
        if !matches!(key, "status" | "statusMessage" | "lastUpdatedAt" | "inputRequests") {
            writer.key(key);
            writer.raw(value);
        }
        Ok(())
    });
    writer.key("status");
    TaskStatus::Failed.write(&mut writer);
    writer.key("lastUpdatedAt");
    writer.string(&timestamp(now));
    writer.key("error");
    error.write(&mut writer);
    writer.end_object();
    writer.into_raw()
}

/// Seconds since 1970 as ISO 8601 writes them.
fn timestamp(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Of the calendar that begins with March, in eras of 400 years.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_after_iso_8601() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_798_761_600, "2027-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(timestamp(seconds), text);
        }
    }

    #[test]
    fn only_names_of_ours_are_looked_for() {
        assert!(is_id("0123456789abcdef0123456789abcdef"));
        for id in [
            "",
            "0123456789ABCDEF0123456789ABCDEF",
            "0123456789abcdef0123456789abcde",
            "../0123456789abcdef0123456789abc",
        ] {
            assert!(!is_id(id), "{id}");
        }
    }

    #[test]
    fn what_is_no_record_is_not_read() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"alive":1}"#,
            r#"{"alive":1,"task":{}}"#,
            r#"{"owner":1,"alive":1,"task":{"status":"working"}}"#,
        ] {
            assert!(read(text, 0).is_none(), "{text}");
        }
        assert!(read(r#"{"alive":1,"task":{"status":"working"}}"#, 0).is_some());
    }
}

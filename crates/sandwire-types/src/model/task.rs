//! Tasks: [experimental](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks)
//! in 2025-11-25, and the extension `io.modelcontextprotocol/tasks` of the modern era. The two share
//! names and little else, so the members that only one has are optional here.

use sandwire_json::{Number, Raw};

use super::input::{InputRequests, InputResponses};
use super::macros::{noun, open_enum};
use crate::jsonrpc::ErrorObject;

open_enum! {
    /// How a task stands.
    TaskStatus {
        /// It runs.
        Working = "working",
        /// It waits for input.
        InputRequired = "input_required",
        /// It ended well.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether it stays so.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

noun! {
    /// A task: what `tasks/get` answers and a notification tells, and in the modern era also the result
    /// (of type `task`) that says a call became one.
    Task {
        /// What it is named by.
        task_id: String = "taskId",
        /// How it stands.
        status: TaskStatus = "status",
        /// When it began, after ISO 8601.
        created_at: String = "createdAt",
        /// When it changed last.
        last_updated_at: String = "lastUpdatedAt",
    } optional {
        /// More about how it stands.
        status_message: String = "statusMessage",
        /// How long it is kept, in milliseconds; `null` is forever (2025-11-25, where it must be there).
        ttl: Option<Number> = "ttl" until V2025_11_25,
        /// How often to ask, in milliseconds (2025-11-25).
        poll_interval: Number = "pollInterval" until V2025_11_25,
        /// How long it is kept, in milliseconds; `null` is forever (modern, where it must be there).
        ttl_ms: Option<Number> = "ttlMs" since V2026_07_28,
        /// How often to ask, in milliseconds (modern).
        poll_interval_ms: Number = "pollIntervalMs" since V2026_07_28,
        /// What it waits for (modern).
        input_requests: InputRequests as questions = "inputRequests" since V2026_07_28,
        /// What came of it, an object (modern).
        result: Raw as object = "result" since V2026_07_28,
        /// Why it failed (modern).
        error: ErrorObject = "error" since V2026_07_28,
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// The result that says a call became a task (2025-11-25).
    CreateTaskResult {
        /// The task.
        task: Task = "task",
    } optional {
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// A page of tasks (2025-11-25).
    ListTasksResult {
        /// The tasks.
        tasks: Vec<Task> = "tasks",
    } optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// The wish to have a request run as a task (2025-11-25).
    TaskMetadata {} optional {
        /// How long to keep it, in milliseconds.
        ttl: Number = "ttl",
    }
}

noun! {
    /// Which task a message belongs to, in its `_meta` under `io.modelcontextprotocol/related-task`.
    RelatedTaskMetadata {
        /// The task.
        task_id: String = "taskId",
    } optional {}
}

noun! {
    /// What `tasks/get`, `tasks/result` and `tasks/cancel` are called with.
    TaskRequestParams {
        /// The task.
        task_id: String = "taskId",
    } optional {}
}

noun! {
    /// What `tasks/update` is called with.
    UpdateTaskRequestParams {
        /// The task.
        task_id: String = "taskId",
        /// Answers to what it waits for.
        input_responses: InputResponses = "inputResponses",
    } optional {}
}

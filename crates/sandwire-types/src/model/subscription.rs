//! [Subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions)
//! of the modern era.

use sandwire_json::Raw;

use super::macros::noun;

noun! {
    /// Which notifications a listen request gets.
    SubscriptionFilter {} optional {
        /// That the list of tools changed.
        tools_list_changed: bool = "toolsListChanged",
        /// That the list of prompts changed.
        prompts_list_changed: bool = "promptsListChanged",
        /// That the list of resources changed.
        resources_list_changed: bool = "resourcesListChanged",
        /// That one of these resources changed.
        resource_subscriptions: Vec<String> = "resourceSubscriptions",
        /// That one of these tasks changed (the tasks extension).
        task_ids: Vec<String> = "taskIds",
    }
}

noun! {
    /// What `subscriptions/listen` is called with.
    SubscriptionsListenRequestParams {
        /// Which notifications are wanted.
        notifications: SubscriptionFilter = "notifications",
    } optional {}
}

noun! {
    /// What `notifications/subscriptions/acknowledged` tells.
    SubscriptionsAcknowledgedNotificationParams {
        /// Which of the wanted notifications come.
        notifications: SubscriptionFilter = "notifications",
    } optional {
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// The end of a listen request, and any other result that says nothing.
    EmptyResult {} optional {
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

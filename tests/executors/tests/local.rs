//! Handlers whose work is not `Send`, on executors of one thread.
#![allow(missing_docs, clippy::unwrap_used)]

use executors::pause;
use futures::{
    channel::oneshot,
    executor::{LocalPool, block_on},
    future::{FutureExt, join, join3},
    task::LocalSpawnExt,
};
use sandwire_client::Client;
use sandwire_server::{Context, Local, LocalDriver, Schema, Server};
use serde::Deserialize;
use std::{cell::RefCell, rc::Rc, thread};

#[derive(Deserialize, serde::Serialize, Schema)]
struct Note {
    text: String,
}

/// Nothing of it can leave its thread.
#[derive(Default)]
struct Desk {
    notes: RefCell<Vec<Rc<str>>>,
    waiting: RefCell<Option<oneshot::Receiver<()>>>,
}

struct Waiting(Rc<Desk>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.notes.borrow_mut().push("given up".into());
    }
}

fn desk(desk: Desk) -> (Server, LocalDriver<Desk>) {
    let (local, driver) = Local::new(desk);
    let (keep, wait) = (local.clone(), local.clone());
    let server = Server::builder("desk", "1.0")
        .tool("keep", "Keeps a note.", move |note: Note, context: Context| {
            keep.run(async move |desk| {
                let text: Rc<str> = note.text.into();
                context.progress(1.0, None, None);
                pause().await;
                desk.notes.borrow_mut().push(text);
                desk.notes.borrow().len()
            })
        })
        .tool("wait", "Waits for what never comes.", move || {
            wait.run(async move |desk| {
                let waiting = desk.waiting.take();
                let _waiting = Waiting(desk);
                if let Some(waiting) = waiting {
                    let _ = waiting.await;
                }
            })
        })
        .resource("desk://notes", "All notes.", move || local.run(|desk| async move { desk.notes.borrow().join(", ") }))
        .build()
        .unwrap();
    (server, driver)
}

async fn converse(client: Client) {
    let note = |text: &str| Note { text: text.to_owned() };
    for (number, text) in ["milk", "bread"].into_iter().enumerate() {
        let kept: usize = client.call_tool("keep", &note(text)).structured().await.unwrap();
        assert_eq!(kept, number + 1);
    }
    let mut waiting = Box::pin(async { drop(client.call_tool("wait", &()).await) });
    for _ in 0..3 {
        assert!(waiting.as_mut().now_or_never().is_none());
        pause().await;
    }
    drop(waiting);
    while !notes(&client).await.contains("given up") {
        pause().await;
    }
    assert!(notes(&client).await.contains("milk, bread, given up"));
    client.close();
}

async fn notes(client: &Client) -> String {
    format!("{:?}", client.read_resource("desk://notes").await.unwrap())
}

#[test]
fn on_a_local_pool_every_part_a_task() {
    let (never, waiting) = oneshot::channel();
    let (server, local) = desk(Desk { waiting: RefCell::new(Some(waiting)), ..Desk::default() });
    let (client, driver) = Client::in_memory(&server);
    drop(server);
    let mut pool = LocalPool::new();
    pool.spawner().spawn_local(driver).unwrap();
    pool.spawner().spawn_local(local).unwrap();
    pool.run_until(converse(client));
    // The work ends with the server that it is done for.
    pool.run();
    drop(never);
}

#[test]
fn on_block_on_everything_in_one_task() {
    let (_never, waiting) = oneshot::channel();
    let (server, local) = desk(Desk { waiting: RefCell::new(Some(waiting)), ..Desk::default() });
    let (client, driver) = Client::in_memory(&server);
    drop(server);
    block_on(join3(converse(client), driver, local));
}

#[test]
fn on_a_thread_of_its_own() {
    let (_never, waiting) = oneshot::channel();
    let (send, server) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        let (server, local) = desk(Desk { waiting: RefCell::new(Some(waiting)), ..Desk::default() });
        send.send(server).unwrap();
        block_on(local);
    });
    let (client, driver) = Client::in_memory(&server.recv().unwrap());
    block_on(join(converse(client), driver));
    thread.join().unwrap();
}

#[test]
fn a_driver_that_is_gone_is_said() {
    let (server, local) = desk(Desk::default());
    drop(local);
    let (client, driver) = Client::in_memory(&server);
    let call = async {
        let error = client.call_tool("wait", &()).await.unwrap_err();
        client.close();
        error.to_string()
    };
    let (error, ()) = block_on(join(call, driver));
    assert!(error.contains("keep its `LocalDriver` running"), "{error}");
}

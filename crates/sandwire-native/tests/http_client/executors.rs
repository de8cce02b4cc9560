//! The same on every executor, with nothing spawned and no reactor of the executor's.

use sandwire_io::HttpClient;
use sandwire_native::http::HttpPool;

use crate::{
    chunk, fetch, pool, post,
    server::{Server, json},
};

fn script() -> Server {
    Server::new(|listener| {
        let mut first = listener.accept();
        first.request();
        first.say(json("1"));
        assert_eq!(first.request().body, "again");
        first.say(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        );
        let mut second = listener.accept();
        second.request();
        first.say("3\r\ndef\r\n");
        second.say(json("2"));
        first.expect_close();
    })
}

async fn session(pool: HttpPool, url: String) {
    assert_eq!(fetch(&pool, post(&url, "once")).await.unwrap(), "1");
    let mut stream = pool.send(post(&url, "again")).await.unwrap();
    assert_eq!(chunk(&mut *stream.body).await.unwrap().unwrap(), b"abc");
    let beside = fetch(&pool, post(&url, "beside"));
    let further = async {
        let bytes = chunk(&mut *stream.body).await;
        drop(stream);
        bytes
    };
    let (beside, further) = futures_util::future::join(beside, further).await;
    assert_eq!((beside.unwrap(), further.unwrap().unwrap()), ("2".to_owned(), b"def".to_vec()));
}

#[test]
fn under_block_on() {
    let server = script();
    sandwire_native::block_on(session(pool(), server.url.clone()));
    server.done();
}

#[test]
fn under_an_executor_that_only_parks_its_thread() {
    let server = script();
    futures::executor::block_on(session(pool(), server.url.clone()));
    server.done();
}

#[test]
fn under_smol() {
    let server = script();
    smol::block_on(smol::spawn(session(pool(), server.url.clone())));
    server.done();
}

#[test]
fn under_tokio_without_its_drivers() {
    let server = script();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(runtime.spawn(session(pool(), server.url.clone()))).unwrap();
    server.done();
}

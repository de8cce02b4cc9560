use crate::scene::{ERAS, Scene, Server, once, tool, waits};
use sandwire_io::client::{Answer, AskKey, Hooks};
use sandwire_json::Raw;
use sandwire_types::{Method, Reply};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

struct Answering;

impl Hooks for Answering {
    fn ask(&mut self, method: Method, _params: Raw, answer: Answer) {
        answer.send(Ok(Raw::from_valid(match method {
            Method::RootsList => r#"{"roots":[]}"#,
            _ => r#"{"action":"accept","content":{}}"#,
        })));
    }
}

fn asking(runs: &Arc<AtomicUsize>) -> Server {
    let runs = runs.clone();
    let handler = waits(move |outlet| {
        runs.fetch_add(1, Ordering::SeqCst);
        async move {
            let form = Raw::from_valid(r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#);
            let first = outlet.ask("form", Method::ElicitationCreate, form).await?;
            if outlet.recorded("paid")?.is_none() {
                outlet.record("paid", Raw::from_valid("true"))?;
            }
            let second = outlet.ask("roots", Method::RootsList, Raw::object()).await?;
            let paid = outlet.recorded("paid")?.is_some();
            Ok(Reply::new(Raw::from_valid(format!(
                r#"{{"first":{},"second":{},"paid":{paid}}}"#,
                first.as_str(),
                second.as_str()
            ))))
        }
    });
    Server::new(vec![("ask", handler)])
}

#[test]
fn one_handler_asks_in_both_eras() {
    for version in ERAS {
        for two in [false, true] {
            let runs = Arc::new(AtomicUsize::new(0));
            let server = asking(&runs);
            let mut scene = if two {
                Scene::two_drivers_with(&server, version, Box::new(Answering))
            } else {
                Scene::one_driver_with(&server, version, Box::new(Answering))
            };
            assert_eq!(
                scene.call("ask").unwrap(),
                r#"{"first":{"action":"accept","content":{}},"second":{"roots":[]},"paid":true}"#
            );
            // A handler within the process waits for the answers; on a modern wire it is run again with them.
            assert_eq!(runs.load(Ordering::SeqCst), if two && version == ERAS[0] { 3 } else { 1 });
        }
    }
}

#[derive(Clone, Default)]
struct Undecided {
    asked: Arc<Mutex<Vec<Answer>>>,
    withdrawn: Arc<AtomicUsize>,
}

impl Hooks for Undecided {
    fn ask(&mut self, _method: Method, _params: Raw, answer: Answer) {
        self.asked.lock().unwrap().push(answer);
    }

    fn withdrawn(&mut self, _key: AskKey) {
        self.withdrawn.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_call_that_is_dropped_withdraws_its_question() {
    for version in ERAS {
        let (hooks, runs) = (Undecided::default(), Arc::default());
        let mut scene = Scene::one_driver_with(&asking(&runs), version, Box::new(hooks.clone()));
        let mut call = Box::pin(scene.client.call(tool("ask")));
        assert!(once(&mut call).is_pending());
        scene.run();
        assert_eq!(hooks.asked.lock().unwrap().len(), 1);
        drop(call);
        scene.run();
        assert_eq!(hooks.withdrawn.load(Ordering::SeqCst), 1);
    }
}

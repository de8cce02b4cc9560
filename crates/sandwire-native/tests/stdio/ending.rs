use crate::scene::{Scene, close, next_line};
use sandwire_io::TextPort;

#[test]
fn a_server_that_reads_to_the_end_is_gone_when_the_port_is() {
    let scene = Scene::new();
    let mut port = scene.start("cat");
    port.send("{\"a\":1}".into());
    assert_eq!(next_line(&mut port), "{\"a\":1}");
    close(&mut port);
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn a_server_that_ignores_the_end_of_its_input_is_terminated() {
    let scene = Scene::new();
    let mut port = scene.start("sleep 1000");
    close(&mut port);
    assert_eq!(scene.left(), Vec::<String>::new());
}

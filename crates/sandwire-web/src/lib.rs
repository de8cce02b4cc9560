//! Sandwire in browsers, workers and edge isolates: fetch, MessagePort, timers, randomness.

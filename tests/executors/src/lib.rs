//! Holds no code: its tests run a client and a server on different executors.

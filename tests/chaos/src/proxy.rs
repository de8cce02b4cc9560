//! A network between client and server that is worse than most.

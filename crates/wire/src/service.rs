//! What a guest must be able to do to be served.

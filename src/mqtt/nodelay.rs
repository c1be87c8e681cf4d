//! `TCP_NODELAY` on the embedded broker's sockets.
//!
//! Without it every QoS 1 delivery waits 44 ms (Nagle's algorithm against delayed acknowledgements): the
//! broker crate sets it on no connection and offers no way to. On Linux an accepted socket inherits the
//! option from its listening socket, so it is enough to find that one among this process's own.

use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::net::{getsockname, sockopt};

/// Sets the option on this process's socket that listens on `address`; whether there is one.
pub(super) fn set_on_listener(address: SocketAddr) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return false };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<RawFd>().ok())
        .any(|fd| listens_on(fd, address))
}

fn listens_on(fd: RawFd, address: SocketAddr) -> bool {
    if fd < 0 {
        return false;
    }
    // SAFETY: only for the calls below, which read socket options and names and set one option. Should another
    // thread close or reuse the descriptor meanwhile, they fail with EBADF or ENOTSOCK, or find an address
    // that is not ours.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let listening = sockopt::socket_acceptconn(fd).unwrap_or(false);
    let ours = listening
        && getsockname(fd).ok().and_then(|name| SocketAddr::try_from(name).ok()) == Some(address);
    ours && sockopt::set_tcp_nodelay(fd, true).is_ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn accepted_sockets_inherit_the_option() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert!(set_on_listener(address));
        let _client = TcpStream::connect(address).unwrap();
        assert!(listener.accept().unwrap().0.nodelay().unwrap());
        drop(listener);
        assert!(!set_on_listener(address));
    }
}

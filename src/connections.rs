//! Connections of clients, each served in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// A connection that cannot be taken is tried again after so long: there are no descriptors, most likely.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves each connection in a task of its own, at most so many at a time; more wait in the system's queue.
pub(crate) async fn serve_each<Task: Future<Output = ()> + Send + 'static>(
    listener: &TcpListener,
    most: usize,
    serve: impl Fn(TcpStream) -> Task,
) {
    let room = Arc::new(Semaphore::new(most));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let serving = serve(stream);
        tokio::spawn(async move {
            serving.await;
            drop(permit);
        });
    }
}

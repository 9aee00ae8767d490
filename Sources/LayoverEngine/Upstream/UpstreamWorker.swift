package import LayoverCore

/// Makes the attempts of one event loop. All calls come from that loop and return at once.
package protocol UpstreamWorker: AnyObject, Sendable {
    func start(_ attempt: UpstreamAttempt)
    /// Aborts the attempt. It still ends with one last event, which carries the evidence.
    func cancel(_ attempt: UpstreamAttempt)
    /// Aborts the attempt if its connection is not open yet; otherwise does nothing.
    func cancelIfConnecting(_ attempt: UpstreamAttempt)
    /// Goes on receiving after a pause, when `bytesOutstanding` has fallen.
    func resumeReceiving(_ attempt: UpstreamAttempt)
    /// Calls back on the thread of the worker as soon as it comes to that. Default: at once.
    func ping(_ reply: @escaping @Sendable () -> Void)
    /// The open connections of the worker. Default: none.
    var connectionCounts: [Origin: ConnectionCount] { get }
    /// The worker uses no connection and no name that is older than this call. Attempts on a connection whose address is gone end.
    func networkChanged()
    /// The client of that number (`UpstreamAttempt.client`) has closed its connection. Default: nothing is done.
    func clientLeft(_ client: Int)
    /// Ends the thread once its last attempt has ended; running ones are aborted.
    func shutDown()
    /// Blocks until the thread has ended, and every attempt has got its last event. Never called on an event
    /// loop. Default: there is no thread.
    func waitUntilEnded()
}

extension UpstreamWorker {
    package func ping(_ reply: @escaping @Sendable () -> Void) { reply() }
    package func waitUntilEnded() {}
    package var connectionCounts: [Origin: ConnectionCount] { [:] }
    package func clientLeft(_ client: Int) {}
}

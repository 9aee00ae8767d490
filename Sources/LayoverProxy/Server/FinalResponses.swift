import NIOCore

/// The clients that are still to get their final response while the proxy is being stopped. Confined to their loop.
final class FinalResponses {
    private var awaited: Set<ObjectIdentifier> = []
    private var whenEmpty: EventLoopPromise<Void>?

    /// Succeeds when every client has its final response, or no more is waited for.
    func future(on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        let promise = whenEmpty ?? eventLoop.makePromise(of: Void.self)
        whenEmpty = promise
        return promise.futureResult
    }

    func await(_ exchange: any ConnectionExchange) { awaited.insert(ObjectIdentifier(exchange)) }

    func isAwaited(_ exchange: any ConnectionExchange) -> Bool { awaited.contains(ObjectIdentifier(exchange)) }

    /// - Returns: Whether it was awaited.
    @discardableResult
    func remove(_ exchange: any ConnectionExchange) -> Bool {
        !awaited.isEmpty && awaited.remove(ObjectIdentifier(exchange)) != nil
    }

    func endIfEmpty() { if awaited.isEmpty { end() } }

    func end() {
        awaited = []
        let promise = whenEmpty
        whenEmpty = nil
        promise?.succeed()
    }
}

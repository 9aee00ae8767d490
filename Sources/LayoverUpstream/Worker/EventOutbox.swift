import Glibc
import LayoverEngine
import NIOCore

/// Gathers the events of one turn of a worker and takes them to the event loop in one piece.
///
/// Confined to the worker's thread.
final class EventOutbox {
    private let eventLoop: any EventLoop
    private let batchEnded: @Sendable () -> Void
    private var deliveries: [EventBatch.Delivery] = []

    init(eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void) {
        self.eventLoop = eventLoop
        self.batchEnded = batchEnded
    }

    func add(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        deliveries.append((attempt, event))
    }

    func deliver() {
        guard !deliveries.isEmpty else { return }
        let batch = EventBatch(deliveries)
        deliveries = []
        deliveries.reserveCapacity(8)
        eventLoop.execute { [batchEnded] in
            batch.deliver()
            batchEnded()
        }
    }
}

/// Events on their way. A loop that shuts down drops them; then nobody owns a dialled socket, and it is
/// closed here.
///
/// `@unchecked Sendable`: filled on the worker's thread, then touched by one other thread only, either
/// the loop's or whoever drops it; `execute` orders the two.
final class EventBatch: @unchecked Sendable {
    typealias Delivery = (attempt: UpstreamAttempt, event: UpstreamEvent)

    private var deliveries: [Delivery]

    init(_ deliveries: [Delivery]) {
        self.deliveries = deliveries
    }

    deinit {
        for delivery in deliveries {
            if case .dialled(let socket) = delivery.event { close(socket.descriptor) }
        }
    }

    func deliver() {
        let taken = deliveries
        deliveries = []
        for delivery in taken {
            delivery.attempt.receiver.receive(delivery.event, of: delivery.attempt)
        }
    }
}

import LayoverAdmin
import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverProxy
import Logging
import NIOCore
import ServiceLifecycle

/// Tells people of incidents and limits (`notify`): by a webhook, whose requests are tickets and so wait for their way like others,
/// and by a command. No request waits for either.
actor Notifier: Service {
    /// Facts that wait for this actor; the oldest are dropped. Default: 1000.
    private static let factCountMax = 1000

    private let engine: Engine
    private let logger: Logger
    private let facts: AsyncStream<NotificationFact>
    private let factAdded: AsyncStream<NotificationFact>.Continuation
    private let spool: BodySpool
    /// Nil: no webhook is configured.
    private var webhook: Channel<Webhook>?
    private var command: Channel<NotificationCommand>?
    private var isCommandRunning = false

    /// A way to people, and what is to be sent by it.
    private struct Channel<Target: Equatable> {
        var target: Target
        var queue: NotificationQueue
        /// Sends the next notification.
        var timer: Task<Void, Never>?
    }

    /// - Parameter spool: Counts the bodies of notifications that are in the store.
    init(engine: Engine, spool: BodySpool, logger: Logger) {
        self.engine = engine
        self.spool = spool
        self.logger = logger
        (facts, factAdded) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.factCountMax))
    }

    nonisolated var description: String { "Notifier" }

    // MARK: Settings

    /// Takes over what the configuration says now. What waits to be told goes the new way.
    func adopt(_ settings: Settings) {
        let interval = settings.notify.interval
        let target = settings.routes.route(named: Route.notificationsName)?.webhook
        webhook = adopted(target, webhook, interval)
        webhook?.queue.excludedOrigin = target?.origin
        command = adopted(NotificationCommand(settings.notify.command), command, interval)
        arm()
    }

    private func adopted<Target>(_ target: Target?, _ channel: Channel<Target>?, _ interval: Duration) -> Channel<Target>? {
        guard let target else {
            channel?.timer?.cancel()
            return nil
        }
        var adopted = channel ?? Channel(target: target, queue: NotificationQueue(interval: interval))
        adopted.target = target
        adopted.queue.interval = interval
        return adopted
    }

    // MARK: Facts

    /// From now on facts are taken.
    func begin() async {
        await engine.setNotificationReceiver { [factAdded] in factAdded.yield($0) }
    }

    nonisolated func run() async throws {
        await cancelWhenGracefulShutdown {
            for await fact in self.facts { await self.take(fact) }
        }
        try await gracefulShutdown()
        await stop()
    }

    private func stop() {
        webhook?.timer?.cancel()
        command?.timer?.cancel()
    }

    private func take(_ fact: NotificationFact) {
        let now = engine.clock.now()
        webhook?.queue.note(fact, now: now)
        command?.queue.note(fact, now: now)
        arm()
    }

    // MARK: Sending

    private func arm() {
        webhook?.timer?.cancel()
        let nextRequest = timer(at: webhook?.queue.dueAt) { await $0.sendByWebhook() }
        webhook?.timer = nextRequest
        command?.timer?.cancel()
        let nextRun = isCommandRunning ? nil : timer(at: command?.queue.dueAt) { await $0.runCommand() }
        command?.timer = nextRun
    }

    private func timer(at due: Timestamp?, then send: @escaping @Sendable (Notifier) async -> Void) -> Task<Void, Never>? {
        guard let due else { return nil }
        let delay = max(.zero, due - engine.clock.now())
        return Task { [weak self] in
            guard (try? await Task.sleep(for: delay)) != nil, let self else { return }
            await send(self)
        }
    }

    private func sendByWebhook() {
        let now = engine.clock.now()
        guard let target = webhook?.target, let notification = webhook?.queue.take(now: now) else { return arm() }
        guard let body = body(of: notification) else { return }
        var generator = SystemRandomNumberGenerator()
        let id = "msg_" + EntryID(using: &generator).description
        let acceptance = WebhookRequest.acceptance(
            id, body: body, to: target, userAgent: "layover/\(LayoverVersion.current)", now: now)
        spool.countStored(body.readableBytes)
        engine.post(.accept(acceptance, WebhookReceipt(spool: spool, byteCount: body.readableBytes, logger: logger)))
        arm()
    }

    private func runCommand() {
        let now = engine.clock.now()
        guard !isCommandRunning, let target = command?.target, let notification = command?.queue.take(now: now) else { return arm() }
        guard let body = body(of: notification) else { return }
        isCommandRunning = true
        // Not in the task of the timer, which the next event cancels.
        Task { commandEnded(target, await target.run(body)) }
    }

    private func commandEnded(_ target: NotificationCommand, _ trouble: String?) {
        if let trouble { logger.warning("notify.command failed", metadata: ["program": "\(target.program)", "reason": "\(trouble)"]) }
        isCommandRunning = false
        arm()
    }

    private func body(of notification: Notification) -> ByteBuffer? {
        do { return try NotificationDocument.json(notification, clock: engine.clock) } catch {
            logger.error("a notification could not be written", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

extension NotificationQueue {
    fileprivate mutating func note(_ fact: NotificationFact, now: Timestamp) {
        switch fact {
        case .incident(let change, let incident): note(change, of: incident, now: now)
        case .limit(let name, let value): noteLimit(name, value: value, now: now)
        }
    }
}

/// Takes note of what became of a notification's ticket.
final class WebhookReceipt: AcceptingExchange {
    private let spool: BodySpool
    private let byteCount: Int
    private let logger: Logger

    init(spool: BodySpool, byteCount: Int, logger: Logger) {
        self.spool = spool
        self.byteCount = byteCount
        self.logger = logger
    }

    func acceptance(_ result: AcceptanceResult) {
        if result.abandonsBody { spool.removedStored(byteCount) }
        let reason: String
        switch result {
        case .accepted, .duplicate, .draining, .gone, .keyReused, .unknownParent: return
        case .refused(let limit, let value): reason = "the limit \(limit) (\(value)) is reached"
        case .notStored(_, let failure): reason = failure.message
        }
        logger.warning("a notification could not be kept for notify.webhook", metadata: ["reason": "\(reason)"])
    }
}

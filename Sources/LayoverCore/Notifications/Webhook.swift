/// Where notifications are sent to (`notify.webhook`).
package struct Webhook: Sendable, Hashable {
    package var origin: Origin
    /// Path and query. It is written into a request when it is sent, and is not kept with it: it often holds a key.
    package var target: Secret
    /// The key that signs the requests (`notify.secret`); nil if they are not signed.
    package var key: SigningKey?

    package init(origin: Origin, target: Secret, key: SigningKey?) {
        self.origin = origin
        self.target = target
        self.key = key
    }

    /// The bytes of a secret. They appear in no text.
    package struct SigningKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        package let bytes: [UInt8]

        package init(_ bytes: [UInt8]) { self.bytes = bytes }

        package var description: String { Secret.mask }
        package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
    }
}

extension Route {
    /// The name of the route of notifications. No client can name it in a base URL, where a name ends at the slash.
    package static let notificationsName = "layover/notifications"

    /// The route of notifications.
    package static func notifications(to webhook: Webhook) -> Route {
        var route = Route(name: notificationsName, policy: .notification)
        route.upstream = Upstream(origin: webhook.origin, basePath: "")
        route.webhook = webhook
        return route
    }
}

extension Policy {
    /// Notifications go in their order, and are of no use after a day. One that was sent twice has the same `webhook-id` twice, so that
    /// its receiver can tell.
    package static var notification: Policy {
        var policy = Policy.outbox
        policy.name = "outbox"
        policy.lifetime = .seconds(24 * 3600)
        policy.retryOn = [.connectivity, .status(429), .status(500), .status(502), .status(503), .status(504)]
        policy.repeatable = true
        return policy
    }
}

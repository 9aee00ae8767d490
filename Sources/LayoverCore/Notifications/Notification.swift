/// A change that people are told of outside of Layover: of an incident, or a limit that was reached.
package struct NotificationEvent: Sendable, Hashable {
    /// The most urgent first.
    package enum Kind: String, Sendable, Hashable, CaseIterable, Comparable {
        /// Nothing goes on without a person.
        case needsDecision = "incident.needsDecision"
        /// Requests are refused.
        case limitReached = "limit.reached"
        case opened = "incident.opened"
        case closed = "incident.closed"

        package static func < (one: Kind, other: Kind) -> Bool { one.rank < other.rank }

        private var rank: Int { Kind.allCases.firstIndex(of: self) ?? 0 }
    }

    package enum Subject: Sendable, Hashable {
        /// As it was at the time of the event.
        case incident(Incident)
        /// A limit by the name of its key, and its value.
        case limit(name: String, value: Int)
    }

    package let kind: Kind
    package let subject: Subject
    package let at: Timestamp

    package init(_ kind: Kind, _ subject: Subject, at: Timestamp) {
        self.kind = kind
        self.subject = subject
        self.at = at
    }

    /// Only the newest event of a topic is of interest.
    var topic: Topic {
        switch subject {
        case .incident(let incident): .incident(incident.id)
        case .limit(let name, _): .limit(name)
        }
    }

    enum Topic: Hashable {
        case incident(IncidentID)
        case limit(String)
    }
}

/// A message about the events since the notification before.
package struct Notification: Sendable, Hashable {
    /// The most urgent one, and of those the oldest.
    package let first: NotificationEvent
    /// The others in the same order.
    package let more: [NotificationEvent]
    /// How many were left out because there were too many.
    package let omittedCount: Int
}

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

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

/// One notification: the events since the one before.
package struct Notification: Sendable, Hashable {
    /// The most urgent one, and of those the oldest.
    package let first: NotificationEvent
    /// The others in the same order.
    package let more: [NotificationEvent]
    /// How many were left out because there were too many.
    package let omittedCount: Int
}

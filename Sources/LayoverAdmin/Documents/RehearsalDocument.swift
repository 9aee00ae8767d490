import LayoverCore
import LayoverText

/// An outage that is played.
package struct RehearsalDocument: Codable, Sendable {
    package var id: String
    package var host: String
    package var fault: String
    /// For `cut` the bytes of the response that come through, for `slow` those of each second.
    @OrNull package var afterBytes: Int?
    @OrNull package var status: Int?
    /// As a duration is written: `10m`.
    package var `for`: String
    package var startedAt: String
    package var endsAt: String
}

extension RehearsalDocument {
    init(_ rehearsal: Rehearsal, wall: WallTime) {
        let order = rehearsal.order
        self.init(
            id: String(rehearsal.number), host: order.host.description, fault: order.fault.rawValue, afterBytes: order.byteCount,
            status: order.status, for: DurationText.text(nanoseconds: Int(order.length.nanosecondsSaturating)),
            startedAt: wall.text(of: rehearsal.startedAt), endsAt: wall.text(of: rehearsal.endsAt))
    }
}

package import LayoverCore
package import LayoverEngine
import LayoverHTTP
import LayoverSystem
package import NIOCore

/// A notification on its way to a webhook (Standard Webhooks 1.0).
///
/// It is a ticket whose target is empty on disk: the target often holds a key, and the signature tells the time of its attempt. Both
/// are written when it is sent.
package enum WebhookRequest {
    /// The ticket of a notification.
    ///
    /// - Parameters:
    ///   - id: The same for all attempts: the receiver tells by it that it has the notification already.
    ///   - body: JSON.
    package static func acceptance(
        _ id: String, body: ByteBuffer, to webhook: Webhook, userAgent: String, now: Timestamp
    ) -> Acceptance {
        var generator = SystemRandomNumberGenerator()
        var new = NewEntry(
            RequestDescription(
                id: EntryID(using: &generator), method: "POST", url: webhook.origin.description, origin: webhook.origin,
                createdAt: now, isExposed: webhook.origin.scheme == .http),
            client: Entry.Client(address: "layover", isConnected: false, userAgent: userAgent), route: Route.notificationsName,
            policy: .notification, requestByteCount: body.readableBytes, parking: .atGate)
        new.lane = Route.notificationsName
        new.ticket = TicketFacts()
        return Acceptance(new: new, request: stored(id, body, webhook, userAgent))
    }

    private static func stored(_ id: String, _ body: ByteBuffer, _ webhook: Webhook, _ userAgent: String) -> StoredRequest {
        var fields = RequestFields()
        fields.append("User-Agent", userAgent)
        fields.append("Content-Type", "application/json")
        fields.append(idName, id)
        return StoredRequest(
            origin: webhook.origin, method: "POST", target: "", host: webhook.origin.hostField, fields: fields, body: .inline(body),
            hasBody: true)
    }

    private static let idName = "webhook-id"

    /// Writes what is not kept of a notification.
    ///
    /// - Parameter time: Seconds since 1970.
    /// - Returns: False where it could not be signed.
    static func address(_ request: inout UpstreamRequest, to webhook: Webhook, _ body: StoredBody, at time: Int) -> Bool {
        request.target = webhook.target.revealed
        request.fields.append("webhook-timestamp", "\(time)")
        guard let key = webhook.key else { return true }
        guard case .inline(let bytes) = body, let id = request.fields.first(where: { $0.name.lowercased() == idName }),
            let code = try? HMACSHA256.code(
                for: Array("\(String(buffer: id.value)).\(time).".utf8) + Array(bytes.readableBytesView), using: SymmetricKey(key.bytes))
        else { return false }
        request.fields.append("webhook-signature", "v1,\(Base64.text(code))")
        return true
    }
}

extension StoredRequest {
    /// No request of a client has an empty target (RFC 9112 section 3.2).
    var isNotification: Bool { target.isEmpty }
}

import Foundation
import LayoverCore

extension Assembly {
    /// Refuses settings of notifications that would fail at the first incident.
    mutating func checkNotifications() {
        let notify = settings.notify
        if let secret = notify.secret {
            if secret.signingKey == nil {
                refuse(Self.key("secret"), "what follows whsec_ must be base64 of at least one byte")
            } else if notify.webhook == nil {
                warnings.append("notify.secret: it signs nothing without notify.webhook")
            }
        }
        guard let command = notify.command else { return }
        guard let program = command.first else { return refuse(Self.key("command"), "it has to begin with a program") }
        if ProgramFile.path(of: program.revealed) == nil {
            refuse(Self.key("command"), "its program is not an executable file, and not found in PATH either")
        }
    }

    private static func key(_ name: String) -> KeyAddress { KeyAddress(section: .global, key: ["notify", name]) }
}

extension NotifySettings {
    /// The webhook of notifications. Nil: there is no webhook, or its URL was refused.
    var route: Webhook? {
        guard let webhook, let url = try? WebAddress.parse(webhook.revealed) else { return nil }
        let target = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?" + $0 } ?? "")
        return Webhook(origin: Origin(scheme: url.scheme, host: url.host, port: url.port), target: Secret(target), key: secret?.signingKey)
    }
}

extension Secret {
    /// The signing key in this secret: what follows `whsec_` is base64 (Standard Webhooks), any other text is the key itself. Nil: the
    /// text cannot be decoded, or is empty.
    fileprivate var signingKey: Webhook.SigningKey? {
        let prefix = "whsec_"
        let encoded = revealed.hasPrefix(prefix) ? String(revealed.dropFirst(prefix.count)) : nil
        let bytes = encoded.map { Data(base64Encoded: $0).map(Array.init) } ?? Array(revealed.utf8)
        guard let bytes, !bytes.isEmpty else { return nil }
        return Webhook.SigningKey(bytes)
    }
}

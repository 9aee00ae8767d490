import Hummingbird
import NIOCore

/// Facts about a request to the admin port that the request itself does not have.
struct AdminContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Address and port of the sender; nil if they are not known.
    let peer: String?
    /// For the record of a command.
    let audit = AuditNote()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress.flatMap(Self.text)
    }

    private static func text(_ address: SocketAddress) -> String? {
        guard let host = address.ipAddress, let port = address.port else { return nil }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ProxySettings {
    /// Longest name of a user, in bytes. Default: 128.
    private static let userByteCountMax = 128

    /// Why a user cannot have this name; nil if the name is allowed. RFC 7617 section 2 forbids colons and control characters.
    package static func complaint(aboutUser name: String) -> String? {
        if name.isEmpty { return "the name of a user is empty" }
        if name.utf8.count > userByteCountMax { return "the name of a user has more than \(userByteCountMax) bytes" }
        if name.unicodeScalars.contains(where: { $0 == ":" || $0.properties.generalCategory == .control }) {
            return "the name of a user must not contain a colon or a control character"
        }
        return nil
    }

    /// Why there must be users.
    package static func needsUsers(_ address: ListenAddress) -> String {
        "\(address) is reachable from other machines, so proxy.users must have a user (layover user add NAME), "
            + "or proxy.insecureOpen must be true"
    }
}

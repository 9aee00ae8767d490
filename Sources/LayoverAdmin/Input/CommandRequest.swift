/// The body of a command for one entry. It may be absent.
struct CommandRequest: Decodable {
    /// Longest reason, in Unicode characters. It is kept with each request that the command is for. Default: 500.
    static let reasonCountMax = 500

    enum CodingKeys: String, CodingKey, CaseIterable {
        case reason, acknowledge
    }

    var reason: String?
    /// The acknowledgement of the risk of `force`; other commands need none.
    var acknowledgement: String?

    init() {}

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        reason = try container.decodeReason(forKey: .reason)
        acknowledgement = try container.decodeIfPresent(String.self, forKey: .acknowledge)
    }
}

extension KeyedDecodingContainer {
    /// A person's reason. Short, because it is shown in lists and sent to clients.
    func decodeReason(forKey key: Key) throws -> String? {
        let reason = try decodeIfPresent(String.self, forKey: key)
        if let reason, reason.unicodeScalars.count > CommandRequest.reasonCountMax {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "A reason has at most \(CommandRequest.reasonCountMax) characters.")
        }
        return reason
    }
}

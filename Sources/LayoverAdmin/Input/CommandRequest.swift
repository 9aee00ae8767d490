import LayoverCore

/// The body of a command for one entry. It may be absent.
struct CommandRequest: Decodable {
    /// Longest reason, and longest note, in Unicode characters. It is kept with each request that the command is for. Default: 500.
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

/// The body of `settle`. It may be absent.
struct SettleRequest: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case status, note, reason
    }

    var outcome = Settlement.Outcome()
    var reason: String?

    init() {}

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        outcome.status = try container.decodeIfPresent(Int.self, forKey: .status)
        if let status = outcome.status, !(200...599).contains(status) {
            throw DecodingError.dataCorruptedError(
                forKey: .status, in: container, debugDescription: "The status of a response is a number from 200 to 599.")
        }
        outcome.note = try container.decodeWords("A note", forKey: .note)
        reason = try container.decodeReason(forKey: .reason)
    }
}

extension KeyedDecodingContainer {
    func decodeReason(forKey key: Key) throws -> String? { try decodeWords("A reason", forKey: key) }

    /// Words of a person. Short, because they are shown in lists and sent to clients.
    func decodeWords(_ name: String, forKey key: Key) throws -> String? {
        let words = try decodeIfPresent(String.self, forKey: key)
        if let words, words.unicodeScalars.count > CommandRequest.reasonCountMax {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "\(name) has at most \(CommandRequest.reasonCountMax) characters.")
        }
        return words
    }
}

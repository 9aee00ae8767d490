/// The meaning of a response to a repetition: the request was sent again after an attempt that may have been applied.
///
/// The earlier attempt may have changed the state against which the origin judges the repetition. So the status of the repetition is
/// not always the status of the request (RFC 9110 section 13.1.1): a PUT with `If-None-Match: *` that created its target gets a 412
/// when it is repeated. `rows` is the table of the contract, section 1, *Outcome unknown*; the first row that matches counts.
package enum RepeatedResponse: Sendable, Hashable {
    /// The response answers the request.
    case answer
    /// The response does not show whether an earlier attempt was applied.
    case unknown
    /// As `unknown`, unless the body has the code of a conflict that the origin wants repeated (`ConflictCode`).
    case unknownUnlessConflict

    /// The requests of a row.
    enum Subject: Sendable {
        case unsafeWithPrecondition

        func contains(_ request: RequestSummary) -> Bool {
            switch self {
            case .unsafeWithPrecondition:
                request.hasPrecondition && !RequestMethod.isSafe(request.repeatability.method)
            }
        }
    }

    struct Row: Sendable {
        var subject: Subject
        var statuses: Set<Int>
        var meaning: RepeatedResponse
    }

    static let rows = [
        Row(subject: .unsafeWithPrecondition, statuses: [412], meaning: .unknown),
        Row(subject: .unsafeWithPrecondition, statuses: [409], meaning: .unknownUnlessConflict),
    ]

    /// - Parameter status: Of the response to the repetition.
    package init(status: Int, to request: RequestSummary) {
        self = Self.rows.first { $0.statuses.contains(status) && $0.subject.contains(request) }?.meaning ?? .answer
    }
}

/// The error code of Amazon S3 for a write that met another one. The origin has applied nothing and asks for a repetition.
package enum ConflictCode {
    /// Longest body that is searched for the code. Default: 4 KiB.
    package static let byteCountMax = 4 << 10

    private static let code = Array("ConditionalRequestConflict".utf8)

    /// - Parameter body: The whole body of a 409.
    package static func isIn(_ body: some Collection<UInt8>) -> Bool {
        guard body.count <= byteCountMax else { return false }
        let bytes = Array(body)
        guard bytes.count >= code.count else { return false }
        return (0...bytes.count - code.count).contains { bytes[$0..<$0 + code.count].elementsEqual(code) }
    }
}

/// The request fields by which an origin refuses a request whose target is not in the expected state.
///
/// RFC 9110 section 13.1, RFC 4918 sections 10.4 (`If`) and 10.6 (`Overwrite`), the fields of Google Cloud Storage and Amazon S3, and
/// those of OASIS Repeatable Requests.
package enum PreconditionField {
    /// - Parameter name: In any case.
    package static func isOne(_ name: String, value: String) -> Bool {
        let name = name.lowercased()
        if name == "overwrite" { return value.lowercased() == "f" }
        if name == "if" || prefixes.contains(where: { name.hasPrefix($0) }) { return true }
        return name.hasPrefix("x-amz-") && name.dropFirst("x-amz".count).contains("-if-")
    }

    private static let prefixes = ["if-", "x-goog-if-", "repeatability-"]
}

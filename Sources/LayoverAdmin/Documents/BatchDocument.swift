import FoundationEssentials
package import NIOCore

/// What came of one request of a batch.
package enum BatchOutcome: Sendable {
    /// A complete response: of the origin, or of Layover in its place.
    case response(status: Int, fields: [(name: String, value: String)], body: ByteBuffer)
    /// There is none that could be given.
    case problem(AdminProblem)
}

/// The outcomes of a batch, in the order of its requests.
struct BatchDocument: Encodable {
    /// One outcome: a response, or a problem of Layover's own.
    struct Item: Encodable {
        var status: Int?
        /// Repeated fields are joined by commas.
        var fields: [String: String]?
        var body: String?
        var bodyEncoding: BatchItem.BodyEncoding?
        var problem: AnyJSON?
    }

    var data: [Item]
    /// Each request stands for itself: some may be done and others not.
    var atomic = false
}

extension BatchDocument.Item {
    init(_ outcome: BatchOutcome) {
        switch outcome {
        case .problem(let problem): self.problem = JSONText.value(of: String(buffer: problem.bytes(path: nil)))
        case .response(let status, let fields, let body):
            if let problem = Self.ownProblem(fields, body) {
                self.problem = problem
                return
            }
            self.status = status
            self.fields = fields.reduce(into: [:]) { joined, field in
                let name = field.name.lowercased()
                joined[name] = joined[name].map { "\($0), \(field.value)" } ?? field.value
            }
            if let text = String(validating: body.readableBytesView, as: UTF8.self) {
                (self.body, bodyEncoding) = (text, .utf8)
            } else {
                (self.body, bodyEncoding) = (Data(body.readableBytesView).base64EncodedString(), .base64)
            }
        }
    }

    /// A problem document that says by its type that it is Layover's.
    private static func ownProblem(_ fields: [(name: String, value: String)], _ body: ByteBuffer) -> AnyJSON? {
        let type = fields.first { $0.name.lowercased() == "content-type" }?.value
        guard type?.hasPrefix("application/problem+json") == true,
            case .object(let members) = JSONText.value(of: String(buffer: body)), case .text(let name)? = members["type"],
            name.hasPrefix("urn:layover:problem:")
        else { return nil }
        return .object(members)
    }
}

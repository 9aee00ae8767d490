import Foundation
import LayoverAdmin
import LayoverText

/// One request to the admin API.
struct AdminCall: Sendable {
    var method = "GET"
    /// With its query.
    var path: String
    var accept = "application/json"
    /// JSON.
    var body: Data?
    /// The command is carried out only if the entry still has this revision (`If-Match`). Nil: the revision does not matter.
    var revision: Int?

    init(_ path: String, query: [(String, String?)] = []) {
        let pairs = query.compactMap { name, value in value.map { "\(name)=\(Self.escaped($0))" } }
        self.path = pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }

    init(_ method: String, _ path: String, body: some Encodable) throws {
        self.init(path)
        self.method = method
        self.body = try JSONEncoder().encode(body)
    }

    /// The event stream, which starts with a snapshot.
    static var events: AdminCall {
        var call = AdminCall("/v1/events")
        call.accept = "text/event-stream"
        return call
    }

    /// The failure of a refused call, with what to do next about a request that is gone or in another state.
    func failure(_ response: AdminResponse) -> CommandFailure {
        var failure = response.failure
        guard path.hasPrefix("/v1/pending/") else { return failure }
        switch response.status {
        case 404: failure.message += "; layover pending lists the requests that wait"
        case 409, 412: failure.message += "; layover show ID tells its state and the commands that it takes"
        default: break
        }
        return failure
    }

    /// Percent-encodes all but unreserved characters (RFC 3986 section 2.3).
    static func escaped(_ text: String) -> String {
        String(decoding: PercentCoding.encode(text.utf8, isPlain: PercentCoding.isUnreserved), as: UTF8.self)
    }
}

/// The body of a command. A member that is nil is left out.
struct OrderBody: Encodable {
    var reason: String?
    var acknowledge: String?
    var status: Int?
    var note: String?
}

/// A complete response of the admin API.
struct AdminResponse: Sendable {
    var status: Int
    var body: Data

    func decoded<Document: Decodable>(_ type: Document.Type) throws(CommandFailure) -> Document {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw CommandFailure(
                code: .unreachable,
                message: "the response is not from Layover's admin API; check the address that --admin-url or LAYOVER_ADMIN_URL gives")
        }
    }

    /// The JSON of the body, harmless on a terminal.
    var text: String { Terminal.safeJSON(String(decoding: body, as: UTF8.self)) }

    /// The detail of a problem response.
    var failure: CommandFailure {
        guard status != 401 else {
            return CommandFailure(
                code: .refused, message: "the admin token is missing or wrong; give it by --token or LAYOVER_TOKEN (401)")
        }
        let problem = try? JSONDecoder().decode(ProblemDocument.self, from: body)
        return CommandFailure(
            // 422: a wrong acknowledgement, or a configuration with errors.
            code: status == 400 || status == 422 ? .usage : .refused,
            message: problem.map { "\($0.detail) (\(status))" }
                ?? "the response was \(status), which Layover's admin API does not give; check the address (--admin-url)")
    }
}

/// The failure of a command: a sentence and an exit code.
struct CommandFailure: Error, Sendable, Equatable {
    enum Code: Int32, Sendable {
        /// Bad configuration or usage.
        case usage = 1
        /// The port is not open, or is not Layover's.
        case unreachable = 2
        /// The admin API said no.
        case refused = 3
        /// Ctrl-C, as shells count it: 128 and the number of SIGINT.
        case interrupted = 130
    }

    var code: Code
    var message: String
}

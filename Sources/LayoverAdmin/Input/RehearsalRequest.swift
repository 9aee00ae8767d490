import LayoverCore
import LayoverText

/// The body that begins a rehearsal.
struct RehearsalRequest: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case host, fault, afterBytes, status
        case length = "for"
    }

    private var host: String?
    private var fault: String?
    private var afterBytes: Int?
    private var status: Int?
    private var length: String?

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        host = try container.given(String.self, forKey: .host)
        fault = try container.given(String.self, forKey: .fault)
        afterBytes = try container.given(Int.self, forKey: .afterBytes)
        status = try container.given(Int.self, forKey: .status)
        length = try container.given(String.self, forKey: .length)
    }

    static let advice = AdminProblem.malformedBody("Send 'host' and 'fault'.")

    func order() throws(AdminProblem) -> RehearsalOrder {
        guard let host, let fault else { throw Self.advice }
        guard let place = RehearsedHost(host) else {
            throw .malformedBody(
                "'host' must be the host of a URL, such as api.example.com, 192.0.2.1 or [2001:db8::1], and may end in :port. A name with "
                    + "other letters stands in its ASCII form (xn--…).")
        }
        guard let kind = RehearsalFault(rawValue: fault) else {
            throw .malformedBody("'fault' must be one of \(RehearsalFault.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        var duration: Duration?
        if let length {
            guard let read = DurationText.duration(length) else {
                throw .malformedBody("'for' must be a duration such as 30s, 10m or 24h.")
            }
            duration = read
        }
        do throws(RehearsalRefusal) {
            return try RehearsalOrder(host: place, fault: kind, byteCount: afterBytes, status: status, length: duration)
        } catch {
            throw .rehearsal(error)
        }
    }
}

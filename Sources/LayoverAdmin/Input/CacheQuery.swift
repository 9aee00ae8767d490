import LayoverCore
import LayoverEngine
import LayoverHTTP

/// Which part of the cache a list shows.
struct CacheQuery: Sendable {
    static let parameterNames: Set<String> = ["host", "url", "limit", "cursor"]

    var selection = CacheSelection.all
    var limit = 100
    /// The `sequence` of the last response of the page before.
    var before: Int64?

    init(_ parameters: QueryParameters) throws(AdminProblem) {
        switch (parameters["host"], parameters["url"]) {
        case (nil, nil): break
        case (let host?, nil): selection = try CacheSelection.named(host: host, orElse: AdminProblem.badParameter)
        case (nil, let url?): selection = try CacheSelection.named(url: url, orElse: AdminProblem.badParameter)
        default: throw .badParameter("Give 'host' or 'url', not both.")
        }
        limit = try parameters.limit() ?? limit
        if let text = parameters["cursor"] {
            guard let before = Int64(text) else { throw .badParameter("'cursor' must be a nextCursor of this list.") }
            self.before = before
        }
    }
}

extension CacheSelection {
    /// - Parameter problem: Thrown if the text is not a host.
    static func named(host text: String, orElse problem: (String) -> AdminProblem) throws(AdminProblem) -> CacheSelection {
        // An IPv6 literal may come without its brackets.
        guard let authority = Authority(parsing: text) ?? Authority(parsing: "[\(text)]"), authority.port == nil else {
            throw problem("'host' must be a host name or address without a port.")
        }
        return .host(authority.host)
    }

    /// - Parameter problem: Thrown if the text is not a URL.
    static func named(url text: String, orElse problem: (String) -> AdminProblem) throws(AdminProblem) -> CacheSelection {
        guard let selection = CacheSelection(url: text) else {
            throw problem("'url' must be an absolute http or https URL.")
        }
        return selection
    }
}

/// The body of a purge.
struct CachePurgeRequest: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case all, host, url
    }

    static let refusal = AdminProblem.malformedBody("Send one of \"all\": true, 'host' and 'url'.")

    /// Exactly one of these three.
    var all: Bool?
    var host: String?
    var url: String?

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        all = try container.given(Bool.self, forKey: .all)
        host = try container.given(String.self, forKey: .host)
        url = try container.given(String.self, forKey: .url)
    }

    /// The responses to delete, in words.
    var names: String { host.map { "host \($0)" } ?? url.map { "url \(MaskedURL.text($0))" } ?? "all" }

    func selection() throws(AdminProblem) -> CacheSelection {
        switch (all, host, url) {
        case (true, nil, nil): .all
        case (nil, let host?, nil): try CacheSelection.named(host: host, orElse: AdminProblem.malformedBody)
        case (nil, nil, let url?): try CacheSelection.named(url: url, orElse: AdminProblem.malformedBody)
        default: throw Self.refusal
        }
    }
}

import LayoverCore
import LayoverEngine

/// The body of a purge.
struct CachePurgeRequest: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case all, host, url
    }

    static let refusal = Problem.malformedBody("Send one of \"all\": true, 'host' and 'url'.")

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

    func selection() throws(Problem) -> CacheSelection {
        switch (all, host, url) {
        case (true, nil, nil): .all
        case (nil, let host?, nil): try CacheSelection.named(host: host, orElse: Problem.malformedBody)
        case (nil, nil, let url?): try CacheSelection.named(url: url, orElse: Problem.malformedBody)
        default: throw Self.refusal
        }
    }
}

/// The URLs whose kept responses a response to an unsafe request outdates (RFC 9111 section 4.4).
enum InvalidationRule {
    /// The target itself and, on the same origin, what `Location` and `Content-Location` name. Empty after safe
    /// methods and after errors. Foreign URLs are left alone: else any server could empty the cache of another's.
    static func outdated(by response: ResponseFacts, to request: RequestFacts, for url: CacheURL) -> [CacheURL] {
        guard !request.isSafe, (200...399).contains(response.status) else { return [] }
        var urls = [url]
        for name in ["location", "content-location"] {
            for reference in response.fields.texts(name) {
                guard let other = url.resolving(reference), other.origin == url.origin, !urls.contains(other) else {
                    continue
                }
                urls.append(other)
            }
        }
        return urls
    }
}

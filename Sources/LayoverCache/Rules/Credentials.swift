import LayoverCore

/// With whose credentials a response was asked for (decision 0016).
enum Credentials {
    /// The credentials of a request, so that equal bytes mean the same credentials; nil if the request has none. Secret: only
    /// a keyed digest of them is kept.
    static func canonical(of request: RequestFacts) -> [UInt8]? {
        var bytes: [UInt8] = []
        for name in CredentialFields.ofRequests {
            for value in request.fields.values(name) {
                bytes += Array(name.utf8) + [0] + value + [0]
            }
        }
        return bytes.isEmpty ? nil : bytes
    }
}

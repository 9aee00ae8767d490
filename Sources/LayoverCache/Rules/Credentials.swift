import LayoverCore

/// With whose credentials a response was asked for (decision 0016).
enum Credentials {
    /// What a request says in them, so that equal bytes mean the same credentials; nil if it says nothing. Secret: only
    /// a keyed digest of it is kept.
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

import NIOCore

/// The fields in which credentials and their dates stand.
struct CredentialLines {
    private(set) var authorization: [String] = []
    /// DPoP (RFC 9449 section 4).
    private(set) var proofs: [String] = []
    /// Signature-Input (RFC 9421 section 4.1).
    private(set) var signatureInputs: [String] = []
    private(set) var amazonDate: String?
    private(set) var date: String?

    init(_ fields: ByteBuffer) {
        for line in FieldLines(fields) {
            switch line.name.lowercased() {
            case "authorization": authorization.append(String(buffer: line.value))
            case "dpop": proofs.append(String(buffer: line.value))
            case "signature-input": signatureInputs.append(String(buffer: line.value))
            case "x-amz-date": amazonDate = String(buffer: line.value)
            case "date": date = String(buffer: line.value)
            default: break
            }
        }
    }
}

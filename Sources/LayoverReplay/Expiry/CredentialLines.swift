import LayoverHTTP

/// The fields in which credentials and their dates stand.
struct CredentialLines {
    private(set) var authorization: [String] = []
    /// DPoP (RFC 9449 section 4).
    private(set) var proofs: [String] = []
    /// Signature-Input (RFC 9421 section 4.1).
    private(set) var signatureInputs: [String] = []
    private(set) var amazonDate: String?
    private(set) var date: String?

    init(_ fields: RequestFields) {
        for field in fields {
            switch field.name.lowercased() {
            case "authorization": authorization.append(field.text)
            case "dpop": proofs.append(field.text)
            case "signature-input": signatureInputs.append(field.text)
            case "x-amz-date": amazonDate = field.text
            case "date": date = field.text
            default: break
            }
        }
    }
}

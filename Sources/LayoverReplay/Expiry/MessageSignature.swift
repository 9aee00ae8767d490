/// HTTP Message Signatures: the parameter `expires` of Signature-Input, in seconds since 1970 (RFC 9421 section 2.3).
/// A signature with `created` alone says nothing about its end.
enum MessageSignature {
    /// The earliest `expires` of all signatures in one line.
    ///
    /// Signature-Input is a dictionary of inner lists (RFC 8941 section 3.2). Read here as far as needed: strings are passed
    /// over, and what stands in parentheses belongs to components, not to the signature.
    static func expiry(_ value: String) -> CredentialExpiry? {
        guard let parameters = parameters(of: value) else { return nil }
        let moments = parameters.compactMap { parameter -> Int? in
            let words = parameter.split(separator: "=", omittingEmptySubsequences: false)
            guard words.count == 2, words[0] == "expires" else { return nil }
            return DigitText.number(words[1])
        }
        guard let earliest = moments.min() else { return nil }
        return CredentialExpiry(earliest, "The message signature expires (parameter expires of the field Signature-Input).")
    }

    /// The parameters of all signatures, each as `key=value`; nil when a string or a parenthesis does not end.
    private static func parameters(of value: String) -> [String]? {
        var parameters: [String] = []
        /// The parameter that is being read: nil until the first semicolon of a signature.
        var current: String?
        var depth = 0
        var characters = value.unicodeScalars.makeIterator()
        while let character = characters.next() {
            switch character {
            case "\"":
                guard skipString(&characters) else { return nil }
                current?.append("\"")
            case "(":
                depth += 1
            case ")":
                depth -= 1
                guard depth >= 0 else { return nil }
            case ";" where depth == 0, "," where depth == 0:
                if let current { parameters.append(current) }
                current = character == ";" ? "" : nil
            case " ", "\t":
                break
            default:
                if depth == 0 { current?.unicodeScalars.append(character) }
            }
        }
        if let current { parameters.append(current) }
        return depth == 0 ? parameters : nil
    }

    /// Passes over the rest of a string (RFC 8941 section 3.3.3). False when it does not end.
    private static func skipString(_ characters: inout String.UnicodeScalarView.Iterator) -> Bool {
        while let character = characters.next() {
            if character == "\"" { return true }
            if character == "\\" { _ = characters.next() }
        }
        return false
    }
}

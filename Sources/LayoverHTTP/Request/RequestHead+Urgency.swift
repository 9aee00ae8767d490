extension RequestHead {
    /// The urgency of the `Priority` field, 0 (first) to 7 (last) (RFC 9218 section 4.1).
    /// Nil: the field has no urgency, or an urgency that cannot be read and counts as missing.
    package var urgency: Int? {
        var urgency: Int?
        for range in fields.values(.priority) {
            for member in fields.string(range).split(separator: ",") {
                // Parameters are for others to read, and of two members with one name the last one counts
                // (RFC 8941 section 3.2).
                let text = (member.split(separator: ";").first ?? "").filter { $0 != " " && $0 != "\t" }
                guard text == "u" || text.hasPrefix("u=") else { continue }
                urgency = text.utf8.count == 3 ? text.last?.wholeNumberValue.flatMap { $0 <= 7 ? $0 : nil } : nil
            }
        }
        return urgency
    }
}

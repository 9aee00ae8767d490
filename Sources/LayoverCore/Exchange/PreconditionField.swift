/// The request fields by which an origin refuses a request whose target is not in the expected state.
///
/// RFC 9110 section 13.1, RFC 4918 sections 10.4 (`If`) and 10.6 (`Overwrite`), the fields of Google Cloud Storage and Amazon S3, and
/// those of OASIS Repeatable Requests.
package enum PreconditionField {
    /// - Parameter name: In any case.
    package static func isOne(_ name: String, value: String) -> Bool {
        let name = name.lowercased()
        if name == "overwrite" { return value.lowercased() == "f" }
        if name == "if" || prefixes.contains(where: { name.hasPrefix($0) }) { return true }
        return name.hasPrefix("x-amz-") && name.dropFirst("x-amz".count).contains("-if-")
    }

    private static let prefixes = ["if-", "x-goog-if-", "repeatability-"]
}

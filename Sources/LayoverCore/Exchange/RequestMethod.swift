/// What methods promise (RFC 9110 section 9.2): the one list of the safe ones, and of the idempotent ones.
///
/// Methods are case-sensitive (section 9.1), and an unknown one may change anything. The methods that a preflight may
/// use, and those whose responses the cache keeps, are fewer on purpose.
package enum RequestMethod {
    /// Whether the method asks for no change (section 9.2.1; QUERY: RFC 10008).
    package static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
        default: false
        }
    }

    /// Whether doing it twice has the effect of doing it once (section 9.2.2).
    package static func isIdempotent(_ method: String) -> Bool {
        isSafe(method) || method == "PUT" || method == "DELETE"
    }
}

/// What follows the response to a request for the rest of a body.
package enum ContinuationVerdict: Sendable, Hashable {
    /// The body of the response is passed on, as far as the recipient does not have it.
    case goOn
    /// The origin cannot answer now.
    case askAgain
    /// The recipient is cut off.
    case refuse(ContinuationRefusal)
}

/// Why a response does not continue the one that broke off.
package enum ContinuationRefusal: Sendable, Hashable {
    /// The response is of another representation, or does not say of which.
    case changed
    /// The response has another Content-Encoding.
    case encoding
    /// The response is not the part that was asked for, or does not say which part it is.
    case range
    /// The Content-Length is not that of the part.
    case length
    /// The response has several parts.
    case multipart
    /// More bytes came than the response announced.
    case tooLong
    /// A status that is neither 206 nor one of those that ask to come later.
    case status(Int)

    /// A sentence for people.
    package var message: String {
        switch self {
        case .changed: "The response broke off, and the origin has another version of it now (validatorRejected)."
        case .encoding: "The response broke off, and its rest came in another Content-Encoding."
        case .range: "The response broke off, and what came is not the rest that was asked for."
        case .length: "The response broke off, and the Content-Length of its rest contradicts its Content-Range."
        case .multipart: "The response broke off, and its rest came in several parts."
        case .tooLong: "The response broke off, and its rest was longer than announced."
        case .status(let status): "The response broke off, and the request for its rest was answered with status \(status)."
        }
    }
}

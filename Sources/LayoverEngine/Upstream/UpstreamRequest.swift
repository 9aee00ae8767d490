package import LayoverCore
package import LayoverHTTP

/// One request as it goes upstream: the same value for the first attempt and for every replay.
package struct UpstreamRequest: Sendable {
    package typealias Purpose = RequestPurpose

    /// How the body is framed on the wire.
    package enum BodyFraming: Sendable, Hashable {
        case none
        case length(Int)
        case chunked
    }

    package var purpose: Purpose
    package var origin: Origin
    /// The method token as the client sent it.
    package var method: String
    /// The request target as it stands in the request line upstream: path and query byte for byte, or `*`.
    package var target: String
    /// The value of the Host field.
    package var host: String
    /// The fields to send besides Host and framing.
    package var fields: RequestFields
    /// Where Host, framing and `Expect` stand among them. Not stored: after a restart Host is first and the others are last.
    package var places = FieldPlaces()
    package var framing: BodyFraming
    /// Nil exactly when `framing` is `none`.
    package var body: CapturedBody?
    /// Whether the client waits for `100 (Continue)`. The field goes upstream too.
    package var expectsContinue: Bool
    /// Whether sending it twice does no harm, as `Repeatability` has it for the attempts that begin from now on. Otherwise the
    /// upstream must make a second sending impossible.
    package var mayBeSentTwice: Bool
    package var timeouts: AttemptTimeouts
    /// Addresses that may be reached although they are refused by default: literals or `address/prefix`.
    package var allowAddresses: [String]
    /// Whether HTTP/2 is offered to an `https` origin. One that does not take it gets HTTP/1.1. Default: false.
    package var offersHTTP2: Bool
    /// The parent proxy through which the request goes. Nil: it goes through none. Default: nil.
    package var parentProxy: ParentProxy?

    package init(
        purpose: Purpose, origin: Origin, method: String, target: String, host: String,
        fields: RequestFields, framing: BodyFraming = .none, body: CapturedBody? = nil,
        expectsContinue: Bool = false, mayBeSentTwice: Bool,
        timeouts: AttemptTimeouts = .init(), allowAddresses: [String] = [], offersHTTP2: Bool = false, parentProxy: ParentProxy? = nil
    ) {
        self.purpose = purpose
        self.origin = origin
        self.method = method
        self.target = target
        self.host = host
        self.fields = fields
        self.framing = framing
        self.body = body
        self.expectsContinue = expectsContinue
        self.mayBeSentTwice = mayBeSentTwice
        self.timeouts = timeouts
        self.allowAddresses = allowAddresses
        self.offersHTTP2 = offersHTTP2
        self.parentProxy = parentProxy
    }

    /// Whether a field holds credentials. Reads all fields, so only for requests that are held.
    package var carriesCredentials: Bool {
        fields.contains { CredentialFields.ofRequests.contains($0.name.lowercased()) }
    }
}

/// Without its fields.
extension UpstreamRequest: CustomStringConvertible {
    package var description: String {
        "\(method) \(MaskedURL.text(origin.description + target)), \(fields)"
    }
}

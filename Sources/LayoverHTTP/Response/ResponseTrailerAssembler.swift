package import NIOCore

/// Gathers the trailers of one response, as libcurl delivers them after the body: ready to be sent
/// on as trailers, never merged into the head. Forbidden ones are dropped (RFC 9110 section 6.5.1).
///
/// Every error has status 502 and repeats until `reset`.
package struct ResponseTrailerAssembler: Sendable {
    private let limits: FramingLimits
    private var byteCount = 0
    private var fieldCount = 0
    private var failure: FramingError?

    /// The lines that go on, each with its CRLF, without the empty line.
    package private(set) var bytes = ByteBuffer()

    package init(limits: FramingLimits = .init()) {
        self.limits = limits
    }

    /// Prepares for the next response.
    package mutating func reset() {
        byteCount = 0
        fieldCount = 0
        failure = nil
        bytes = ByteBuffer()
    }

    /// Takes one line, its CRLF included. True: it was the empty line, the trailers are complete.
    package mutating func take(line: UnsafeRawBufferPointer) throws(FramingError) -> Bool {
        if let failure { throw failure }
        do throws(FramingError) {
            return try takeChecked(line)
        } catch {
            let failure = FramingError(status: 502, reason: error.reason)
            self.failure = failure
            throw failure
        }
    }

    private mutating func takeChecked(_ line: UnsafeRawBufferPointer) throws(FramingError) -> Bool {
        byteCount += line.count
        guard byteCount <= limits.trailerByteCountMax else { throw .trailersTooLarge }
        let content = try ReceivedLine.contentOfStrictLine(of: line)
        if content.isEmpty { return true }
        fieldCount += 1
        guard fieldCount <= limits.trailerFieldCountMax else { throw .tooManyTrailers }
        let field = try FieldLine.parse(content, in: line, isResponse: true)
        if KnownField.refusedInTrailers.contains(field.known) { throw .framingInTrailers }
        if !KnownField.forbiddenInTrailers.contains(field.known) {
            FieldLine.writeLine(of: field, in: line, contentEnd: content.upperBound, into: &bytes)
        }
        return false
    }
}

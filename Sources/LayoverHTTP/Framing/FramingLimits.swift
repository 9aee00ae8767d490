/// Limits on what one message may make us keep. Nothing of a message is buffered without one.
package struct FramingLimits: Sendable, Equatable {
    /// Most bytes of a head: request or status line, fields and the empty line. More is a 431, or
    /// a 414 where the request line alone is too long. Default: 64 KiB.
    package var headByteCountMax = 64 << 10

    /// Most fields in a head. More is a 431. Default: 1 000.
    package var fieldCountMax = 1_000

    /// Most bytes of one chunk-size line with its extensions and CRLF. More is a 400.
    /// Default: 1 KiB; extensions seen in practice have a few dozen bytes.
    package var chunkLineByteCountMax = 1 << 10

    /// Most bytes of chunk extensions in one whole message. Without it a body of tiny chunks could
    /// cost a thousand times what it delivers. More is a 400. Default: 16 KiB.
    package var chunkExtensionByteCountMax = 16 << 10

    /// Most bytes of a trailer section with its empty line. More is a 400. Default: 16 KiB.
    package var trailerByteCountMax = 16 << 10

    /// Most fields in a trailer section. More is a 400. Default: 100.
    package var trailerFieldCountMax = 100

    /// Most interim (1xx) heads before the final one of a response. More is an error. Default: 64.
    package var interimHeadCountMax = 64

    /// Most bytes of one body event of a decoder, however many are there. Default: 256 KiB.
    package var bodyEventByteCountMax = 256 << 10

    package init() {}

    /// For a head that Layover reads once more. It was limited where it came from, by limits that may have been higher than the defaults.
    package static var ofKnownHead: FramingLimits {
        var limits = FramingLimits()
        limits.headByteCountMax = 4 << 20
        limits.fieldCountMax = 100_000
        return limits
    }
}

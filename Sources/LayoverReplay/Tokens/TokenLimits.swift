/// Limits on tokens and what is put in their places. All sizes are in bytes.
package struct TokenLimits: Sendable, Hashable {
    /// Most tokens in one request. Default: 100.
    package var tokenCountMax = 100

    /// Longest text of a token between its tildes. Default: 1 KiB.
    package var tokenByteCountMax = 1024

    /// Longest value, before it is encoded for its place. Default: 8 KiB.
    package var valueByteCountMax = 8 << 10

    /// Longest target, and longest block of field lines, with the values in them. Default: 64 KiB.
    package var headByteCountMax = 64 << 10

    /// Longest body in which tokens are replaced. A longer one without tokens is left as it is; one with tokens is
    /// refused, because sending the tokens themselves would be worse. Default: 16 MiB.
    package var bodyByteCountMax = 16 << 20

    /// Longest body of a parent's response that is read for a `json` token. Default: 1 MiB.
    package var responseByteCountMax = 1 << 20

    /// How deep objects and arrays may be nested in a parent's response, and how many keys a token may have. Default: 128.
    package var jsonDepthMax = 128

    package init() {}
}

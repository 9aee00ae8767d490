import NIOCore

extension ByteBuffer {
    /// Lends the readable bytes to `body` and keeps its typed error, which `rethrows` would erase.
    func withReadableBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(TokenError) -> Value
    ) throws(TokenError) -> Value {
        let result: Result<Value, TokenError> = withUnsafeReadableBytes { bytes in
            do throws(TokenError) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

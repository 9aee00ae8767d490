import NIOCore

extension ByteBuffer {
    /// Lends the readable bytes to `body` and keeps its typed error, which `rethrows` would erase.
    @inline(__always)
    func withReadableBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(FramingError) -> Value
    ) throws(FramingError) -> Value {
        let result: Result<Value, FramingError> = withUnsafeReadableBytes { bytes in
            do throws(FramingError) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
